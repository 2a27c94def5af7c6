/** The text format of Prometheus, to the letter. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {Latencies} from "../../../../server/observe/latencies.ts";
import {writeFigures, writeHistogram} from "../../../../server/observe/metricsText.ts";

test("a figure has a line for each value of its labels, and what a label's text must not have is escaped", () => {
  assert.equal(writeFigures("a", "what", [], [[5]]), "# HELP a what\n# TYPE a gauge\na 5\n");
  const rows = [
    ["x", '"\\\n', 1],
    ["y", "", 0.5],
  ] as const;
  assert.equal(
    writeFigures("b_total", "what", ["k", "l"], rows),
    '# HELP b_total what\n# TYPE b_total counter\nb_total{k="x",l="\\"\\\\\\n"} 1\nb_total{k="y",l=""} 0.5\n',
  );
});

test("the buckets of a histogram add up, and a bound belongs to its bucket", () => {
  const latencies = new Latencies([1, 2]);
  for (const seconds of [0.5, 1, 1.5, 9]) latencies.observe("m", seconds);
  const lines = [
    "# HELP h what",
    "# TYPE h histogram",
    'h_bucket{method="m",le="1"} 2',
    'h_bucket{method="m",le="2"} 3',
    'h_bucket{method="m",le="+Inf"} 4',
    'h_sum{method="m"} 12',
    'h_count{method="m"} 4',
    "",
  ];
  assert.equal(writeHistogram("h", "what", "method", latencies), lines.join("\n"));
});
