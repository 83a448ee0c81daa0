"""The metrics inside other evaluation tools: one module a tool; each needs the extra of its name.

Every tool shows the same of a row: its score, whether that counts as correct, and one sentence that says why.
"""
