"""What a command line does, how risky that is, and which rules would be safe to allow.

shell/            which commands a shell line runs
suggestions.py    permission rules suggested from the commands that were run
risk.py           whether a command can do harm
risk_table.py     commands that do harm or that people must decide about, with the reason
script_risk.py    commands that need more than a table, such as sed, awk and find
readers_table.py  commands that only read
checks_table.py   test and lint commands, the only ones allowed to run other code
judgement.py      the verdict of risk.py about one command, and the reason
tool_risk.py      how risky an agent's tool call is
guards.py         `ask` rules that narrow a wide `allow` rule
bash_rule.py      the syntax of a Bash rule, and which commands it matches
"""
