/** deploy/: what its files name exists in a running service, and the tools that know their formats accept them. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {writeFile} from "node:fs/promises";
import {test} from "node:test";
import {fileURLToPath} from "node:url";
import {SERVE_FLAGS} from "../../cli/flags/serveFlags.ts";
import {readServiceOptions} from "../../cli/flags/serveOptions.ts";
import {HELP} from "../../server/observe/figureTable.ts";
import {createMixedLine} from "../support/chains/mixedLines.ts";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {waitForCoverage} from "../support/http/followingDaemon.ts";
import {OwnService} from "../support/http/ownService.ts";
import {TrieLogNode} from "../support/nodes/trieLogNode.ts";
import {runChild} from "../support/processes/childProcesses.ts";
import {notRun} from "../support/processes/notRun.ts";
import {readFlags} from "../support/run/flagReading.ts";

const ROOT = fileURLToPath(new URL("./", import.meta.resolve("#package/package.json")));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, "utf8");
/** A metric and its labels, without what a histogram adds to its name. */
const SELECTOR = /\b((?:proofd|process|nodejs)_\w+?)(?:_bucket|_sum|_count)?\b(?:\{([^}]*)\})?/g;
/** Labels that Prometheus or a histogram adds. */
const ADDED = ["instance", "job", "le"];

const folder = new WorkFolder();

/** /metrics of a service that follows a node, takes finality from it, prunes and verifies: it has the metrics of all of these. */
async function readMetrics(): Promise<string> {
  const {node} = await TrieLogNode.start([0, 1, 2].map(at => createMixedLine(at, 0)));
  node.finalized = 2;
  const l2 = ["--l2", node.url.href, "--source", "trielogs", "--finality", "tag"];
  const flags = ["--db", folder.file("db"), "--workers", "1", "--history", "1", "--check-store"];
  const service = await OwnService.serve([...flags, ...l2]);
  try {
    await waitForCoverage(service, "finalized", "0x2");
    return (await service.get("/metrics")).text;
  } finally {
    await service.stop();
    await node.stop();
  }
}

test("the metrics of the dashboard, the alerts and the documents are those that a service has", async () => {
  const text = await readMetrics();
  // It does not publish, and has no TLS.
  const own = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name as string);
  const families = new Set([...own, ...Object.keys(HELP)]);
  const dashboard = JSON.parse(read("deploy/grafana/dashboards/proofd.json"));
  const panels: {title: string; targets: {expr: string}[]}[] = dashboard.panels;
  const expressions = panels.flatMap(({title, targets}) => targets.map(({expr}) => [title, expr] as const));
  const alerts = [...read("deploy/prometheus/alerts.yml").matchAll(/alert: (\w+)\n +expr: (".*")/g)];
  for (const [, name, expr] of alerts) expressions.push([name as string, JSON.parse(expr as string)]);
  assert.ok(expressions.length > 30);
  for (const [where, expr] of expressions)
    for (const [, name = "", selectors = ""] of expr.matchAll(SELECTOR)) {
      assert.ok(families.has(name), `${where}: ${name}`);
      const sample = new RegExp(`^${name}(_bucket)?\\{(.*)\\}`, "m").exec(text)?.[2] ?? "";
      for (const [, label = ""] of selectors.matchAll(/(\w+) *[=!]/g)) {
        const isKnown = ADDED.includes(label) || sample.includes(`${label}="`);
        // Nothing was turned away or has failed yet, so some have no sample.
        assert.ok(isKnown || sample === "", `${where}: ${name} has no label ${label}`);
      }
    }
  const documented = read("docs/operations.md");
  for (const family of families)
    if (family.startsWith("proofd_")) assert.ok(documented.includes(family), family);
});

test("the flags of the image and of the manifest are flags of serve", async () => {
  const command = /^CMD \[(.*)\]$/m.exec(read("deploy/Dockerfile"))?.[1];
  const [, ...flags] = JSON.parse(`[${command}]`);
  assert.equal(readFlags(SERVE_FLAGS, readServiceOptions, flags).host, "0.0.0.0");
  const lines = /proofd\.conf: \|\n((?: {4}.*\n)+)/.exec(read("deploy/kubernetes.yml"))?.[1] ?? "";
  const header = folder.file("l2-header");
  await writeFile(header, "Authorization: Bearer x\n");
  const config = folder.file("proofd.conf");
  await writeFile(config, lines.replace("/etc/proofd/secret/l2-header", header));
  const {db, l2, finality} = readFlags(SERVE_FLAGS, readServiceOptions, ["--config", config]);
  assert.deepEqual(
    [db, l2?.nodes.headers, finality?.source],
    ["/data/db", {authorization: "Bearer x"}, "l1"],
  );
  assert.notEqual(l2?.genesisPath, undefined);
});

test("Prometheus asks the port for operators, and so do probes", () => {
  for (const file of ["kubernetes.yml", "kubernetes-replicas.yml"]) {
    const text = read(`deploy/${file}`);
    const [port, ...others] = new Set([...text.matchAll(/metrics-port = (\d+)$/gm)].map(([, one]) => one));
    assert.deepEqual(others, []);
    for (const [, scraped] of text.matchAll(/prometheus\.io\/port: "(\d+)"/g)) assert.equal(scraped, port);
    assert.match(text, new RegExp(`- name: metrics\\n +containerPort: ${port}\\n`));
    for (const [, probed] of text.matchAll(/path: \/(?:healthz|readyz)\?lag=60\n +port: (\w+)/g))
      assert.equal(probed, "metrics");
  }
  for (const [compose, prometheus, services] of [
    ["compose.yml", "prometheus.yml", ["proofd"]],
    ["compose-replicas.yml", "replicas.yml", ["publisher", "replica1", "replica2"]],
  ] as const) {
    const ports = [...read(`deploy/${compose}`).matchAll(/"--metrics-port", "(\d+)"/g)].map(([, one]) => one);
    assert.equal(ports.length, services.length);
    const targets = JSON.stringify(services.map((service, at) => `${service}:${ports[at]}`));
    assert.ok(read(`deploy/prometheus/${prometheus}`).includes(targets.replaceAll(",", ", ")), targets);
  }
});

test("the flags of the files with replicas are flags of serve, and all name the same three servers", async () => {
  const compose = read("deploy/compose-replicas.yml");
  const commands = [...compose.matchAll(/^ {4}command: (\["serve".*\])$/gm)].map(([, list]) => {
    const [, ...flags] = JSON.parse(list as string);
    // From a variable.
    return flags.includes("--genesis") ? [...flags, "--l2", "http://node:8545"] : (flags as string[]);
  });
  assert.equal(commands.length, 3);
  const manifest = read("deploy/kubernetes-replicas.yml");
  for (const [, name, lines = ""] of manifest.matchAll(/ {2}(proofd-\w+)\.conf: \|\n((?: {4}.*\n)+)/g)) {
    assert.ok(manifest.includes(`"/etc/proofd/config/${name}.conf"`));
    const header = folder.file("header");
    await writeFile(header, "Authorization: Bearer x\n");
    const config = folder.file(`${name}.conf`);
    await writeFile(config, lines.replace("/etc/proofd/secret/l2-header", header));
    commands.push(["--config", config]);
  }
  assert.equal(commands.length, 5);
  const all = commands.map(flags => readFlags(SERVE_FLAGS, readServiceOptions, flags));
  for (const [at, {db, publish, feed, isBalanced}] of all.entries()) {
    const isReplica = feed !== undefined;
    assert.deepEqual([db, isBalanced, publish !== undefined], ["/data/db", isReplica, !isReplica]);
    const urls = (feed ?? publish)?.nats.urls ?? [];
    const text = at < 3 ? compose : manifest;
    assert.equal(new Set(urls.map(url => new URL(url).hostname)).size, 3);
    for (const url of urls)
      assert.ok(text.includes(`nats://${new URL(url).hostname}:6222`), `a route to the server of ${url}`);
  }
  assert.equal(all.filter(({feed}) => feed !== undefined).length, 3);
});

const PROMETHEUS = ["prometheus.yml", "replicas.yml"];

const TOOLS: readonly (readonly [tool: string, args: () => Promise<readonly string[]>])[] = [
  [
    "promtool",
    async () => ["check", "config", ...PROMETHEUS.map(name => `${ROOT}deploy/prometheus/${name}`)],
  ],
  ["hadolint", async () => [`${ROOT}deploy/Dockerfile`]],
  ["systemd-analyze", async () => ["verify", `${ROOT}deploy/proofd.service`]],
];

for (const [tool, createArgs] of TOOLS)
  test(`${tool} accepts what deploy/ has for it`, async t => {
    if ((await runChild("sh", ["-c", `command -v ${tool}`])).code !== 0)
      return notRun(t, `no ${tool} in PATH`);
    const {code, stdout, stderr} = await runChild(tool, await createArgs());
    assert.equal(code, 0, stdout + stderr);
    if (tool === "systemd-analyze") assert.equal(stderr, "");
  });
