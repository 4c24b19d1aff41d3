"""Navi and its peers, behind one interface. Every module has `contestant(url)`.

navi_recalls.py        recalls, until just after the commit that admits their inputs
apscheduler_jobs.py    APScheduler 3 with its SQLAlchemy store, on SQLite or PostgreSQL
pgqueuer_jobs.py       PgQueuer, tuned as its documentation recommends
procrastinate_jobs.py  Procrastinate

The peers' jobs only report that they run. Their lateness is measured at that moment.
"""
