/** What the page makes of answers of /metrics: sums, rates and latencies. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {History} from "../../../page/status/history.ts";
import {Scrape} from "../../../page/status/scrape.ts";

/** @param buckets - measurements up to 1 ms, 10 ms and above. @param own - calls of the page itself */
function scrapeAt(
  seconds: number,
  calls: number,
  buckets: readonly number[],
  {cpu = seconds, own = 0} = {},
): Scrape {
  const [low, middle, all] = buckets;
  const text = `# HELP proofd_calls_total "quoted" {text}
# TYPE proofd_calls_total counter
proofd_calls_total{method="a",code="0"} ${calls}
proofd_calls_total{method="b \\"c\\"",code="-32602"} 2
duration_bucket{method="a",le="0.001"} ${low}
duration_bucket{method="a",le="0.01"} ${middle}
duration_bucket{method="a",le="+Inf"} ${all}
state{state="reading"} 0
state{state="following"} 1
process_cpu_seconds_total ${cpu}
`;
  return new Scrape(text, seconds * 1000, own);
}

test("a scrape sums a metric's values, also by one label, and names the current state", () => {
  const scrape = scrapeAt(0, 5, [0, 0, 0]);
  assert.equal(scrape.sum("proofd_calls_total"), 7);
  assert.equal(scrape.sum("other_total"), undefined);
  assert.deepEqual(Object.fromEntries(scrape.by("proofd_calls_total", "code")), {"0": 5, "-32602": 2});
  assert.equal(scrape.state("state", "state"), "following");
  assert.equal(scrape.state("proofd_calls_total", "method"), undefined);
});

test("rates are those between scrapes without the calls of the page itself, and latencies are of the measurements since the first one", () => {
  const history = new History();
  history.add(scrapeAt(0, 100, [1000, 1000, 1000]));
  assert.deepEqual(history.callRates(), []);
  // Nothing was measured since the first scrape, so all measurements count.
  assert.deepEqual(history.quantiles("duration", [0.5]), [0.0005]);
  history.add(scrapeAt(2, 110, [1000, 1100, 1100]));
  history.add(scrapeAt(4, 117, [1000, 1100, 1100], {own: 7}));
  assert.deepEqual(history.callRates(), [5, 0]);
  assert.equal(history.seconds, 4);
  const [half, most] = history.quantiles("duration", [0.5, 0.99]) as [number, number];
  assert.ok(Math.abs(half - 0.0055) < 1e-9 && Math.abs(most - 0.00991) < 1e-9, `${half} ${most}`);
});

test("measurements above all buckets count as the highest bound, and none as nothing", () => {
  const history = new History();
  history.add(scrapeAt(0, 0, [0, 0, 0]));
  assert.deepEqual(history.quantiles("duration", [0.5]), []);
  history.add(scrapeAt(2, 0, [0, 0, 4]));
  assert.deepEqual(history.quantiles("duration", [0.5]), [0.01]);
});

test("a service that has started again has no rates below zero", () => {
  const history = new History();
  history.add(scrapeAt(0, 100, [0, 0, 0], {cpu: 50}));
  history.add(scrapeAt(2, 3, [0, 0, 0], {cpu: 1}));
  assert.deepEqual(history.callRates(), []);
});
