"""How well a judge ranks systems that choose answers, and where it errs (Tables 5, 8 and 9 of the AVA paper)."""
