"""What the demos share. Importing it turns off Gradio's analytics and the Hub's telemetry.

A demo needs the folder that holds `common` on `sys.path`: in a Space that is the demo's own folder.
"""

import os

os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # one row is too little work for two threads
