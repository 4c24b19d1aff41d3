"""Small consistent stores, and every way in which the tests damage them.

- books.py        a store to write into, and how turns are answered or die in it
- inputs.py messages.py recalls.py automations.py
                  `write` fills the store; `DAMAGE` maps what is wrong to the objection that the
                  ledger must raise and to the statements that bring it about
"""
