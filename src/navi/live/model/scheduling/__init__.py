"""What happens later: recalls, automations, reminders.

recall.py              a session's own wake-up
schedule.py            once, at an interval, or by a cron expression
automation.py          a scheduled turn that belongs to a session
recall_request.py      a recall as a caller asks for it
schedule_request.py    a schedule as a caller writes it
automation_request.py  an automation to add, or a change to one
jobs_file.py           reads automations from the jobs.json of an older system
reminder.py            nudges for a silent agent, and one-off reminders
agenda.py              what is scheduled next, across all sessions
limits.py              limits on intervals and counts
prompts/               templates of the prompts for scheduled turns
scheduled_prompt.py    a prompt, rendered when its turn begins
"""
