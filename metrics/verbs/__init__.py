"""The verbs: score, compare, agree, accuracy, calibrate, label, explain, doctor and their commands."""
