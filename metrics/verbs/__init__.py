"""The verbs: score, compare, agree, accuracy, calibrate, label, raters, explain, doctor and their commands."""
