/** deploy/prometheus/alerts.yml: each alert fires when it should and only then, says what to do, and has its cure in the documents. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {writeFile} from "node:fs/promises";
import {join} from "node:path";
import {test} from "node:test";
import {readSection} from "../support/documents/printedBlocks.ts";
import {runChild} from "../support/processes/childProcesses.ts";
import {findProgram} from "../support/processes/foundProgram.ts";
import {notRun} from "../support/processes/notRun.ts";
import {makeTemporaryFolder} from "../support/temporaryFolder.ts";

const read = (path: string): string =>
  readFileSync(new URL(path, import.meta.resolve("#package/package.json")), "utf8");
const TEXT = read("./deploy/prometheus/alerts.yml");

type Labels = Readonly<Record<string, string>>;

/** A sample a minute, as promtool writes them: `1x400` is 1 for 400 minutes, `0+5x400` rises by 5. */
interface Case {
  readonly alert: string;
  readonly after: string;
  /** Minutes after which it does not fire yet. */
  readonly before?: number;
  readonly series: Readonly<Record<string, string>>;
  readonly fires: readonly Labels[];
}

const BAD = {instance: "bad"};

/** Of a metric that is 1 while something is wrong: in two minutes less, nobody is called yet. */
function flagCase(alert: string, metric: string, after: string, labels: Labels = {}): Case {
  const name = (instance: string, of: Labels = labels): string => {
    const all = Object.entries({instance, ...of}).map(([label, value]) => `${label}="${value}"`);
    return `${metric}{${all}}`;
  };
  const others = Object.keys(labels).map(label => [name("good", {[label]: "other"}), "1x60"]);
  return {
    ...{alert, after, before: Number.parseInt(after, 10) - 2},
    series: {[name("bad")]: "1x60", [name("good")]: "0x60", ...Object.fromEntries(others)},
    fires: [{...BAD, ...labels}],
  };
}

/** Of a counter, or of seconds: this instance is bad, and that one good. */
function pairCase(alert: string, metric: string, after: string, bad: string, good: string): Case {
  const name = (instance: string): string =>
    metric.replace(/\{|$/, at => `{instance="${instance}"${at === "{" ? "," : "}"}`);
  const labels = Object.fromEntries(
    [...metric.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value]),
  );
  return {alert, after, series: {[name("bad")]: bad, [name("good")]: good}, fires: [{...BAD, ...labels}]};
}

const CASES: readonly Case[] = [
  {
    alert: "ProofdDown",
    after: "2m",
    series: {'up{job="proofd"}': "0x60", 'up{job="node"}': "0x60"},
    fires: [{job: "proofd"}],
  },
  pairCase("ProofdHeadLag", "proofd_head_lag_seconds", "3m", "0+61x60", "59x60"),
  flagCase("ProofdImportFailed", "proofd_import_failed", "3m"),
  flagCase("ProofdFinalityStopped", "proofd_finality_state", "2m", {state: "stopped"}),
  pairCase("ProofdFinalitySilent", "proofd_finality_answered_timestamp_seconds", "10m", "0x60", "0+60x60"),
  pairCase(
    "ProofdInternalErrors",
    'proofd_calls_total{method="a",code="-32603"}',
    "20m",
    "0x18 1x60",
    "1x60",
  ),
  // The first such error is the metric's first sample.
  pairCase(
    "ProofdInternalErrors",
    'proofd_calls_total{method="a",code="-32603"}',
    "20m",
    "_x18 1x60",
    "1x60",
  ),
  pairCase("ProofdDamage", "proofd_damaged_records_total", "20m", "0x18 1x60", "1x60"),
  flagCase("ProofdDamage", "proofd_verify_findings_total", "1m"),
  pairCase("ProofdWorkerDied", "proofd_worker_exits_total", "20m", "0x18 1x60", "1x60"),
  pairCase(
    "ProofdTurnsAway",
    'proofd_refused_total{queue="proof",reason="wait"}',
    "20m",
    "0+60x60",
    "0+1x60",
  ),
  {
    alert: "ProofdSlowProofs",
    after: "30m",
    series: Object.fromEntries(
      [
        // One in sixty.
        ["bad", "0+59x60", "0+60x60"],
        ["good", "0+60x60", "0+60x60"],
      ].flatMap(([instance, quick = "", all = ""]) =>
        Object.entries({"0.5": quick, "1": all, "+Inf": all}).map(([le, values]) => [
          `proofd_request_duration_seconds_bucket{instance="${instance}",method="chain_getProof",le="${le}"}`,
          values,
        ]),
      ),
    ),
    fires: [BAD],
  },
  flagCase("ProofdPruneFailed", "proofd_prune_failed", "1m"),
  flagCase("ProofdVerifyFailed", "proofd_verify_failed", "1m"),
  pairCase(
    "ProofdConnectionsRefused",
    'proofd_connections_refused_total{reason="total"}',
    "20m",
    "0x18 1x60",
    "0x10 1x60",
  ),
  {
    alert: "ProofdDiskSpace",
    after: "6h",
    series: {
      'proofd_disk_free_bytes{instance="bad"}': "9x400",
      'proofd_disk_size_bytes{instance="bad"}': "100x400",
      'proofd_disk_free_bytes{instance="fills"}': "90000-60x400",
      'proofd_disk_size_bytes{instance="fills"}': "100000x400",
      'proofd_disk_free_bytes{instance="good"}': "11000-1x400",
      'proofd_disk_size_bytes{instance="good"}': "100000x400",
    },
    fires: [BAD, {instance: "fills"}],
  },
  flagCase("ProofdWritesStopped", "proofd_writes_stopped", "1m"),
  flagCase("ProofdSourceWaits", "proofd_source_state", "3m", {state: "waiting"}),
  {
    alert: "ProofdReplicaStandsStill",
    after: "20m",
    series: {
      'proofd_published_block{job="proofd",instance="publisher"}': "0+5x60",
      'proofd_head_block{job="proofd",instance="publisher",which="latest"}': "0+5x60",
      'proofd_head_block{job="proofd",instance="bad",which="latest"}': "0+5x10 50x50",
      'proofd_head_block{job="proofd",instance="behind",which="latest"}': "0+4x60",
      // Of another chain.
      'proofd_head_block{job="other",instance="alone",which="latest"}': "3x60",
    },
    fires: [{...BAD, job: "proofd", which: "latest"}],
  },
  {
    // A chain that stands still is nobody's fault here.
    alert: "ProofdReplicaStandsStill",
    after: "20m",
    series: {
      'proofd_published_block{job="proofd",instance="publisher"}': "50x60",
      'proofd_head_block{job="proofd",instance="replica",which="latest"}': "50x60",
    },
    fires: [],
  },
  flagCase("ProofdPublishRefused", "proofd_publish_state", "2m", {state: "refused"}),
  flagCase("ProofdPublishWaits", "proofd_publish_state", "3m", {state: "waiting"}),
  flagCase("ProofdSnapshotFailed", "proofd_publish_snapshot_failed", "31m"),
];

/** By name, its severity. */
const ALERTS = new Map(
  Array.from(TEXT.matchAll(/- alert: (\w+)\n[\s\S]*?severity: (\w+)\n/g), ([, name = "", severity = ""]) => [
    name,
    severity,
  ]),
);

test("each alert says what to do, and the documents do", () => {
  assert.ok(ALERTS.size > 10);
  assert.equal(TEXT.match(/^ +action: ".{20,}\."$/gm)?.length, ALERTS.size);
  const documented = readSection(read("./docs/operations.md"), "Alerts");
  for (const name of ALERTS.keys()) assert.ok(documented.includes(`| \`${name}\` | `), name);
});

test("each alert fires for what is wrong, and not for what is right", async t => {
  assert.deepEqual(new Set(CASES.map(({alert}) => alert)), new Set(ALERTS.keys()));
  if (findProgram("promtool") === undefined) return notRun(t, "no promtool in PATH (Debian: prometheus)");
  const folder = makeTemporaryFolder();
  // Their texts need not be said again.
  await writeFile(
    join(folder, "alerts.yml"),
    TEXT.replaceAll(/^ +(annotations:|summary: .*|action: .*)\n/gm, ""),
  );
  const tests = CASES.map(({alert, after, before = 0, series, fires}) => ({
    name: alert,
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({series: name, values})),
    alert_rule_test: [
      ...(before > 0 ? [{eval_time: `${before}m`, alertname: alert, exp_alerts: []}] : []),
      {
        eval_time: after,
        alertname: alert,
        exp_alerts: fires.map(labels => ({exp_labels: {...labels, severity: ALERTS.get(alert)}})),
      },
    ],
  }));
  // JSON is YAML.
  const path = join(folder, "tests.yml");
  await writeFile(path, JSON.stringify({rule_files: ["alerts.yml"], evaluation_interval: "1m", tests}));
  const {code, stdout, stderr} = await runChild("promtool", ["test", "rules", path]);
  assert.equal(code, 0, stdout + stderr);
});
