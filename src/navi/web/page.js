// The sessions, the one that is open, and what is said in it. Everything shown comes from frames:
// opening a session replays its events from the first one and then follows them live.

const element = (id) => document.getElementById(id);
const sessions = new Map();
let open = null;

async function call(method, path, body) {
  const response = await fetch(path, { method, body: body && JSON.stringify(body) });
  if (response.status === 401) throw new Error("Open the link that `navi serve` printed.");
  const value = await response.json();
  if (!response.ok) throw new Error(`${value.error.message}. ${value.error.hint}`);
  return value;
}

function notice(text) {
  element("notice").textContent = text;
}

function showSessions() {
  const newest = [...sessions.values()].sort((a, b) => b.updated_at.localeCompare(a.updated_at));
  element("sessions").replaceChildren(...newest.map((session) => {
    const button = document.createElement("button");
    button.textContent = session.name;
    if (open?.id === session.id) button.setAttribute("aria-current", "true");
    button.onclick = () => { location.hash = session.id; };
    const state = document.createElement("span");
    state.className = "state";
    state.textContent = ` ${session.state}`;
    button.append(state);
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
}

function remember(session, deleted) {
  if (deleted) sessions.delete(session.id);
  else sessions.set(session.id, session);
  showSessions();
}

function socket(path, onFrame) {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  const connection = new WebSocket(`${scheme}://${location.host}${path}`);
  connection.onmessage = (message) => onFrame(JSON.parse(message.data));
  return connection;
}

function paragraph(kind, text) {
  const shown = document.createElement("p");
  shown.className = `message ${kind}`;
  shown.textContent = text;
  element("conversation").append(shown);
  return shown;
}

function extend(kind, delta) {
  const last = element("conversation").lastElementChild;
  if (last?.classList.contains(kind) && open.isStreaming) last.textContent += delta;
  else paragraph(kind, delta);
  open.isStreaming = true;
}

function show(frame) {
  if (frame.seq) open.seq = frame.seq;
  switch (frame.type) {
    case "input_delivered": paragraph("user", frame.input.text); break;
    case "thinking_delta": extend("thinking", frame.delta); break;
    case "stream_delta": extend("assistant", frame.delta); break;
    case "tool_call":
      paragraph("tool", `${frame.name} ${JSON.stringify(frame.arguments)}\n${frame.result}`);
      break;
    case "stream_end":
      if (frame.error) paragraph("tool", frame.error);
      open.isStreaming = false;
      break;
    case "error": notice(`${frame.message}. ${frame.hint}`); break;
  }
  const conversation = element("conversation");
  conversation.scrollTop = conversation.scrollHeight;
}

function watch(id) {
  open?.connection.close();
  open = { id, seq: 0, isStreaming: false, connection: null };
  element("conversation").replaceChildren();
  element("composer").hidden = false;
  follow(open);
  showSessions();
}

function follow(watched) {
  watched.connection = socket(`/ws/sessions/${watched.id}?after=${watched.seq}`, show);
  watched.connection.onclose = () => {
    // A server that restarts has lost nothing: go on where we were.
    if (open === watched) setTimeout(() => open === watched && follow(watched), 1000);
  };
}

function followAll() {
  const connection = socket("/ws", (frame) => {
    if (frame.session) remember(frame.session, frame.deleted);
    const session = sessions.get(frame.session_id);
    if (frame.type === "stream_start" && session) remember({ ...session, state: "running" });
  });
  connection.onopen = load;
  connection.onclose = () => setTimeout(followAll, 1000);
}

async function load() {
  try {
    sessions.clear();
    for (const session of await call("GET", "/sessions")) sessions.set(session.id, session);
    notice("");
    showSessions();
  } catch (error) {
    notice(error.message);
  }
}

element("create").onclick = async () => {
  try {
    const session = await call("POST", "/sessions", {});
    remember(session);
    location.hash = session.id;
  } catch (error) {
    notice(error.message);
  }
};

element("composer").onsubmit = async (event) => {
  event.preventDefault();
  const text = element("text").value;
  try {
    const { status, position } = await call("POST", `/sessions/${open.id}/input`, { text });
    notice(status === "queued" ? `Queued, ${position} before it.` : "");
    element("text").value = "";
  } catch (error) {
    notice(error.message);
  }
};

element("stop").onclick = () => call("POST", `/sessions/${open.id}/stop`).catch((e) => notice(e.message));

element("text").onkeydown = (event) => {
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    element("composer").requestSubmit();
  }
};

// The open session is part of the address, so a reload or a bookmark comes back to it.
function openNamed() {
  const id = location.hash.slice(1);
  if (id && id !== open?.id) watch(id);
}

addEventListener("hashchange", openNamed);
followAll();
openNamed();
