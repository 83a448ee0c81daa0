"""Tables that pages outside the studies show: of the bundled checkpoints and of judges beside them."""

from training.ava import cut_judge, measure_judges, measure_reasons
from training.grounding import evaluate_grounding
from training.kpqa import evaluate_kpqa
from training.studies.harness import Table, filled

LIMITS = "spaces/docs/pages/explanation/3-judge-limits.md"
KEYPHRASES = filled("cards/keyphrases.md.j2", WEIGHTED=evaluate_kpqa.WEIGHTED)
TABLES = [
    Table("sizes", "ava/results/judges", measure_judges.table_of_sets, "metrics/ava/README.md"),
    Table("families", "ava/results/judges", measure_judges.tables_of_counts, LIMITS),
    Table("reasons", "ava/results/reasons", measure_reasons.table, LIMITS),
    Table("cut", "ava/results/cut", cut_judge.table, "metrics/ava/checkpoint_large/README.md"),
    Table("scores", "ava/results/small", measure_judges.all_tables, "metrics/ava/checkpoint/README.md"),
    Table("best", "kpqa/results/agreement", KEYPHRASES, "training/kpqa/README.md"),
    Table("judges", "grounding/results/large", evaluate_grounding.table, "metrics/grounding/README.md"),
]
