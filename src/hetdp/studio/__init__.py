"""The studio: a page on which a problem is seen, moved and understood. Dash is used in this folder only.

state, visitors, answers, edits, opening, bounds, gallery, forms, numbers and export know nothing of pages; drawing,
views, panels and layout say what is shown; callbacks join the two; guard and server keep it to the person who started
it.
"""
