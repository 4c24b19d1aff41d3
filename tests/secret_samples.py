"""Texts with secrets, as found in transcripts, and texts that only look as if they had any.

The secrets are made of seeded random characters when the tests run: nothing in this file is a key,
or looks like one to a scanner.
"""

from __future__ import annotations

import base64
import html
import json
import random
import string
from dataclasses import dataclass

_random = random.Random(17)
LETTERS = string.ascii_letters
ALNUM = string.ascii_letters + string.digits
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"


@dataclass(frozen=True, slots=True)
class Sample:
    name: str
    text: str
    secret: str
    """What must not be seen of the text."""


def made_of(signs: str, length: int) -> str:
    """Random, and with a digit, a small and a capital letter where the alphabet has them."""
    while True:
        made = "".join(_random.choice(signs) for _ in range(length))
        kinds = (str.isdigit, str.islower, str.isupper)
        if all(any(map(kind, made)) or not any(map(kind, signs)) for kind in kinds):
            return made


def uuid() -> str:
    return "-".join(made_of(HEX, length) for length in (8, 4, 4, 4, 12))


def password() -> str:
    """As people choose them."""
    return _random.choice(["otter", "maple", "cinder", "walrus"]) + made_of("23456789", 3)


def in_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


SAMPLES: list[Sample] = []


def add(name: str, text: str, secret: str) -> None:
    """`text` has `{}` where the secret stands."""
    SAMPLES.append(Sample(name, text.replace("{}", secret), secret))


def vendors() -> None:
    """Tokens with a beginning of their own; in a sentence, without a name that gives them away."""
    for name, start, signs, length in [
        ("Anthropic", "sk-ant-api03-", URLSAFE, 95),
        ("OpenAI", "sk-proj-", URLSAFE, 120),
        ("OpenAI, older", "sk-", ALNUM, 48),
        ("OpenRouter", "sk-or-v1-", HEX, 64),
        ("GitHub", "ghp_", ALNUM, 36),
        ("GitHub, fine-grained", "github_pat_", ALNUM, 82),
        ("GitHub app", "ghs_", ALNUM, 36),
        ("GitLab", "glpat-", URLSAFE, 20),
        ("Slack bot", "xoxb-123456789012-1234567890123-", ALNUM, 24),
        ("Slack browser", "xoxc-123456789012-1234567890123-", HEX, 64),
        ("Slack cookie", "xoxd-", ALNUM, 80),
        ("Atlassian", "ATATT3xFfGF0", URLSAFE, 180),
        ("Bitbucket", "ATBB", ALNUM, 32),
        ("Grafana service account", "glsa_", ALNUM, 41),
        ("Grafana cloud", "glc_", BASE64, 60),
        ("New Relic", "NRAK-", UPPER, 27),
        ("Postman", "PMAK-", HEX, 59),
        ("Facebook", "EAAB", ALNUM, 160),
        ("Square", "EAAA", URLSAFE, 60),
        ("Square, older", "sq0atp-", URLSAFE, 22),
        ("Fly.io", "fo1_", URLSAFE, 43),
        ("Fly.io macaroon", "fm2_", BASE64, 120),
        ("Render", "rnd_", ALNUM, 28),
        ("Pulumi", "pul-", HEX, 40),
        ("Doppler", "dp.pt.", ALNUM, 43),
        ("Contentful", "CFPAT-", URLSAFE, 43),
        ("Heroku", "HRKU-AA", URLSAFE, 58),
        ("NVIDIA", "nvapi-", URLSAFE, 64),
        ("Tavily", "tvly-", ALNUM, 32),
        ("Artifactory", "AKCp", ALNUM, 69),
        ("NuGet", "oy2", LOWER, 43),
        ("crates.io", "cio", ALNUM, 32),
        ("RubyGems", "rubygems_", HEX, 48),
        ("PostHog, personal", "phx_", ALNUM, 43),
        ("Stripe", "sk_live_", ALNUM, 24),
        ("Google API", "AIza", URLSAFE, 35),
        ("Google OAuth", "ya29.", URLSAFE, 120),
        ("npm", "npm_", ALNUM, 36),
        ("PyPI", "pypi-AgEIcHlwaS5vcmc", URLSAFE, 120),
        ("Hugging Face", "hf_", LETTERS, 34),
        ("Docker", "dckr_pat_", URLSAFE, 27),
        ("Vault", "hvs.", URLSAFE, 90),
        ("Vault, older", "s.", ALNUM, 24),
        ("Shopify", "shpat_", HEX, 32),
        ("Twilio", "SK", HEX, 32),
        ("Netlify", "nfp_", ALNUM, 36),
        ("SonarQube", "sqp_", HEX, 40),
        ("Dropbox", "sl.", URLSAFE, 130),
        ("Tailscale", "tskey-auth-", ALNUM, 40),
        ("Navi session", "navi_session_", URLSAFE, 43),
        ("Navi user", "navi_user_", URLSAFE, 43),
        ("Navi server", "navi_", URLSAFE, 43),
    ]:
        add(name, "I used {} for the first call", start + made_of(signs, length))
    add(
        "Discord",
        "the bot logs in with {} now",
        f"MT{made_of(ALNUM, 24)}.{made_of(ALNUM, 6)}.{made_of(URLSAFE, 38)}",
    )
    add("SendGrid", "mail goes out with {} today", f"SG.{made_of(ALNUM, 22)}.{made_of(ALNUM, 43)}")
    add("Mailchimp", "the list has {} set", f"{made_of(HEX, 32)}-us21")
    add("Firebase", "push: {}", f"AAAA{made_of(ALNUM, 7)}:APA91b{made_of(URLSAFE, 134)}")
    add("Cloudflare origin", "the CA takes {}", f"v1.0-{made_of(HEX, 24)}-{made_of(HEX, 146)}")
    add("Telegram", "bot {} is up", f"{made_of('123456789', 10)}:AA{made_of(ALNUM, 33)}")
    add(
        "Terraform",
        "terraform login wrote {}",
        f"{made_of(ALNUM, 14)}.atlasv1.{made_of(ALNUM, 67)}",
    )
    add(
        "JSON web token",
        "got {} back",
        ".".join(("eyJ" + made_of(ALNUM, 33), "eyJ" + made_of(ALNUM, 60), made_of(URLSAFE, 43))),
    )
    add("Azure client secret", "az uses {} there", f"{made_of(ALNUM, 3)}8Q~{made_of(ALNUM, 34)}")
    add(
        "Slack webhook",
        "curl https://hooks.slack.com/services/{}",
        f"T{made_of(UPPER, 8)}/B{made_of(UPPER, 10)}/{made_of(ALNUM, 24)}",
    )


def headers() -> None:
    add("header, token", "curl -H 'Authorization: token {}' https://localhost", made_of(HEX, 40))
    add("header, bare", "Authorization: {}\nAccept: */*", made_of(ALNUM, 32))
    add("header, bearer", "> Authorization: Bearer {}", made_of(URLSAFE, 40))
    add("header, basic", "authorization: Basic {}", in_base64(f"ada:{password()}"))
    add("header in JSON", '{"headers": {"Authorization": "ApiKey {}"}}', made_of(ALNUM, 32))
    add(
        "header of AWS",
        "Authorization: AWS4-HMAC-SHA256 Credential=x/us-east-1, SignedHeaders=host, Signature={}",
        made_of(HEX, 64),
    )
    add("cookie", "Cookie: sessionid={}; theme=dark", made_of(LOWER, 32))
    add("cookie that is set", "< Set-Cookie: sid={}; Path=/; HttpOnly", made_of(ALNUM, 40))
    add("key in a header", "X-Api-Key: {}", made_of(ALNUM, 32))


def commands() -> None:
    for name, text in [
        ("sshpass", "sshpass -p {} ssh ada@localhost"),
        ("mysql", "mysql -u root -p{} shop < dump.sql"),
        ("mysqldump", "mysqldump --user=ada --password={} shop"),
        ("docker login", "docker login -u ada -p {} localhost:5000"),
        ("docker login by pipe", "echo {} | docker login -u ada --password-stdin"),
        ("sudo by pipe", "echo '{}' | sudo -S apt update"),
        ("curl -u", "curl -u ada:{} https://localhost/api"),
        ("curl --user", 'curl --user "api:{}" https://localhost/v3'),
        ("redis-cli", "redis-cli -h localhost -a {} ping"),
        ("PGPASSWORD", "PGPASSWORD={} pg_dump prod > prod.sql"),
        ("MYSQL_PWD", "MYSQL_PWD={} mysql shop"),
        ("ldapsearch", "ldapsearch -x -D cn=admin -w {} -b dc=shop"),
        ("openssl", "openssl pkcs12 -in a.p12 -passin pass:{} -nodes"),
        ("unzip", "unzip -P {} backup.zip"),
        ("htpasswd", "htpasswd -bc .htpasswd ada {}"),
        ("smbclient", "smbclient //nas/share -U 'ada%{}'"),
        ("from a literal", "kubectl create secret generic db --from-literal=pw={}"),
        ("login in an address", "git clone https://ada:{}@localhost/shop.git"),
        ("database address", "psql postgresql://ada:{}@localhost:5432/shop"),
        ("a flag", "./deploy.sh --client-secret {} --region eu"),
    ]:  # fmt: skip
        add(name, text, password())


def files() -> None:
    add("netrc", "machine localhost login ada password {}\n", password())
    add("connection string", "Server=localhost;Database=shop;Uid=ada;Pwd={};", password())
    add("npmrc", "//localhost/:_auth={}\n", in_base64(f"ada:{password()}"))
    add(
        "Docker's settings",
        '{"auths": {"localhost:5000": {"auth": "{}"}}}',
        in_base64(f"ada:{password()}"),
    )
    add("YAML", "database:\n  user: ada\n  password: {}\n  port: 5432\n", "hunter" + "22")
    add("YAML, letters only", "db:\n  password: {}\n", "correct" + "horse")
    add(
        "Kubernetes",
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  user: YWRh\n  url: {}\n",
        in_base64(f"db://{password()}"),
    )
    add("settings file", "# .env\nDB_HOST=localhost\nDB_PASSWORD={}\n", password())
    add("properties", "spring.datasource.password={}\n", password())
    add("XML", "<server><id>x</id><password>{}</password></server>", password())
    add("PHP", "define('DB_PASSWORD', '{}');", password())
    add("SQL", "CREATE ROLE ada LOGIN PASSWORD '{}';", password())
    add("pgpass", "localhost:5432:shop:ada:{}", password())
    add(
        "AWS pair",
        "aws_access_key_id = AK" + "IA" + made_of(UPPER, 16) + "\naws_secret_access_key = {}\n",
        made_of(BASE64, 40),
    )
    add(
        "AWS pair in prose",
        "key AK" + "IA" + made_of(UPPER, 16) + " secret {}",
        made_of(BASE64, 40),
    )
    add(
        "Azure signature",
        "https://shop.blob.core.windows.net/a?sv=2022-11-02&se=2026-12-01&sp=r&sig={}%3D",
        made_of(ALNUM, 43),
    )
    add(
        "signed address of S3",
        "https://s3.localhost/a?X-Amz-Expires=300&X-Amz-Signature={}",
        made_of(HEX, 64),
    )
    add("link to Navi", "open http://127.0.0.1:4747/login?token={}", made_of(URLSAFE, 43))
    add(
        "navi user add",
        "added ada (user); this is their token, it is not shown again:\n{}",
        made_of(URLSAFE, 43),
    )
    add("a sentence", "the staging password is {}, do not share it", "hunter" + "22")
    add("WireGuard", "[Interface]\nPrivateKey = {}=\nAddress = 10.0.0.2/24", made_of(ALNUM, 43))
    add(
        "JSON inside JSON",
        json.dumps({"body": json.dumps({"user": "ada", "password": "{}"})}),
        password(),
    )


def keys() -> None:
    """Private keys: whole, encrypted, and cut at either end."""
    lines = "\n".join(made_of(BASE64, 64) for _ in range(5))
    begin, end = "-----BEGIN {}PRIVATE" + " KEY-----", "-----END {}PRIVATE" + " KEY-----"
    rsa = [each.format("RSA ") for each in (begin, end)]
    ssh = [each.format("OPENSSH ") for each in (begin, end)]
    add("private key", f"{ssh[0]}\n{{}}\n{ssh[1]}", lines)
    add("private key without its end", f"$ head -6 id_rsa\n{rsa[0]}\n{{}}\n", lines)
    add(
        "encrypted key without its end",
        f"{rsa[0]}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B2C3D\n\n{{}}\n",
        lines,
    )
    add("private key without its beginning", f"$ tail -6 id_rsa\n{{}}\n{rsa[1]}\n", lines)


for _make in (vendors, headers, commands, files, keys):
    _make()


def is_readable(sample: Sample, text: str) -> bool:
    """Whether a recognisable part of the secret can be read, however it is escaped."""
    secret = sample.secret
    half = len(secret) // 2
    pieces = {secret} if len(secret) < 16 else {secret[half : half + 12], secret[-12:]}
    return any(
        form in text
        for piece in pieces
        for form in {piece, json.dumps(piece)[1:-1], html.escape(piece)}
    )


HARMLESS = [
    "commit 26a3b10cb2d5007add9127bb0ee0d790a0b87564",
    "sha256:" + made_of(HEX, 64),
    "d41d8cd98f00b204e9800998ecf8427e  empty.txt",
    f"session {uuid()} was resumed",
    f'"integrity": "sha512-{made_of(BASE64, 86)}=="',
    f"data:image/png;base64,iVBORw0KGgo{made_of(BASE64, 300)}=",
    "token_type: bearer12345678",
    "max_tokens: 4096, input_tokens: 123456789",
    "def login(username: str, password: str) -> Token:",
    "password = getpass.getpass('Password: ')",
    "const token = await getToken(request)",
    'api_key=os.environ["OPENAI_API_KEY"]',
    "export GITHUB_TOKEN=$(gh auth token)",
    'curl -H "Authorization: Bearer $TOKEN" https://localhost',
    "Authorization: Bearer <your token here>",
    "Authorization: Bearer authentication is required",
    "API_KEY=your-api-key-goes-here",
    "password: ********",
    "password: string | null;",
    "  password: UserPassword\n",
    "  password: required\n",
    "the password is required and must have 12 characters",
    "the password is sha256-hashed before it is stored",
    "Forgot your password? Reset it in the settings.",
    "secretName: database-credentials",
    "secret_name = 'shop/database'",
    "primary_key = 'user_id_1234567'",
    "PWD=/home/ada/shop OLDPWD=/home/ada",
    "pwd = os.getcwd()",
    "docker run -u 1000:1000 --user node:node image",
    "git push -u origin feature/login:main",
    "git@github.com:ada/shop.git",
    "https://localhost:8443/a@b/c?page=2",
    "mysql -u root -p shop",
    "docker compose -p shop up -d",
    "ssh -p 2222 ada@localhost",
    "mkdir -p build/reports && cp -p a b",
    "redis-cli -h localhost -p 6379 ping",
    "use the --password option to set one",
    "docker build --secret id=npm,src=.npmrc .",
    "Cookie: theme=darkmode; language=english",
    "task-runner-1234567890-abcdefghijklmnop",
    "sk-learn-contrib-examples-for-everyone",
    "src/navi/base/secrets/secret_tokens.py::test_api_key_is_found",
    "kind: ConfigMap\ndata:\n  color: Ymx1ZTEyMw==\n",
    "navi_session_storage_of_everything_that_was_said",
    f"phc_{made_of(ALNUM, 43)}",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUabcdefghijklmnop\n-----END CERTIFICATE-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMr5abcdefghijklmnopqrstuvwxyz0123 ada@shop",
    "npm_config_registry=https://localhost/npm/",
    "x = sl.shape_of_the_second_layer_before_normalisation[0]",
    "reading pattern.compile and path.resolve('a') at 12:30:45",
    "the keyboard shortcut is Ctrl+Shift+P; the key is 'Escape'",
    "SELECT id, password_hash FROM users WHERE token_count > 12345678",
]
