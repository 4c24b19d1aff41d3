"""Navi and its peers, each as the course sees it. Every module has `contestant(url)`.

navi_recalls.py        recalls, to the moment after the commit that admits their inputs
apscheduler_jobs.py    APScheduler 3 with its SQLAlchemy store, on SQLite or PostgreSQL
pgqueuer_jobs.py       PgQueuer, tuned as its documentation says
procrastinate_jobs.py  Procrastinate

The peers' jobs only report that they run, which is the moment that is measured.
"""
