/**
 * The report as one HTML page. Style, charts (uPlot, from node_modules) and figures are in the file. Its content policy
 * forbids it to load anything.
 */
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import type {LatencyFigures} from "../traffic/latency.ts";
import {formatCount, formatMegabytes, formatMs} from "./figureText.ts";
import {writeErrorLimit} from "./judgement.ts";
import {encodeReport, type LoadReport} from "./loadReport.ts";
import {
  describeCalls,
  describeGenerator,
  describeMachine,
  describeVerification,
  listErrors,
} from "./textReport.ts";

// These files are not compiled, so they are read from the package. `import.meta.resolve` cannot resolve a folder with a slash
// at its end.
const STYLE = new URL(import.meta.resolve("#package/bench/load/report/page/page.css"));
const CHARTS = new URL(import.meta.resolve("#package/bench/load/report/page/charts.js"));
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

export function writeHtmlReport(report: LoadReport): string {
  const require = createRequire(import.meta.url);
  const style = readFileSync(require.resolve("uplot/dist/uPlot.min.css"), "utf8");
  const library = readFileSync(require.resolve("uplot/dist/uPlot.iife.min.js"), "utf8");
  const page = readFileSync(STYLE, "utf8");
  const charts = readFileSync(CHARTS, "utf8");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>proofd load: ${escapeText(report.url)}</title>
<style>${style}</style>
<style>${page}</style>
</head>
<body>
${writeHead(report)}
${writeTiles(report)}
<h2>Latency by percentile</h2>
<div class="chart" id="percentiles">No request got a result.</div>
${writeLatencies(report)}
<h2>Throughput over time</h2>
<div class="chart" id="throughput">Less than a second was measured.</div>
<h2>Latency over time</h2>
<div class="chart" id="latency">Less than a second was measured.</div>
<h2>Errors</h2>
${writeErrors(report)}
<h2>Verification</h2>
${writeVerification(report)}
<h2>Settings</h2>
${writeSettings(report)}
<script type="application/json" id="report">${encodeReport(report).replaceAll("<", "\\u003c")}</script>
<script>${library}</script>
<script>${charts}</script>
</body>
</html>
`;
}

function writeHead(report: LoadReport): string {
  const [tone, verdict] = judge(report);
  const failures = report.failures.map(failure => `<li>${escapeText(failure)}</li>`).join("");
  const notes = report.notes.map(note => `<li>${escapeText(note)}</li>`).join("");
  return `<h1>proofd load</h1>
<p>${escapeText(report.url)} · ${escapeText(report.server.client ?? "unnamed server")} · ${escapeText(report.startedAt)}</p>
<p><code>${escapeText(report.command)}</code></p>
<p class="verdict ${tone}">${verdict}</p>
<ul class="bad">${failures}</ul>
<ul>${notes}</ul>`;
}

function judge(report: LoadReport): [tone: "good" | "bad" | "", verdict: string] {
  if (report.failures.length > 0) return ["bad", "failed"];
  return report.verification.checked === 0 ? ["", "passed, nothing verified"] : ["good", "passed"];
}

function writeTiles({perSecond, latency, requests, loop}: LoadReport): string {
  const ms = (value: number | undefined) => (value === undefined ? "none" : `${formatMs(value)} ms`);
  const tiles: [string, string][] = [
    ["requests per second", formatCount(perSecond.requests)],
    ["calls per second", formatCount(perSecond.calls)],
    ["proofs per second", formatCount(perSecond.proofs)],
    ["received per second", formatMegabytes(perSecond.bytes)],
    [`p50, ${loop === "open" ? "from due" : "service"}`, ms(latency?.p50Ms)],
    ["p99", ms(latency?.p99Ms)],
    ["p99.9", ms(latency?.p999Ms)],
    ["requests failed", `${formatCount(requests.failed)} of ${formatCount(requests.due)}`],
  ];
  return `<dl class="tiles">${tiles.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join("")}</dl>`;
}

function writeLatencies({loop, latency, service, corrected}: LoadReport): string {
  const rows: [string, LatencyFigures | undefined][] = [
    [loop === "open" ? "from when it was due" : "service", latency],
    ["service", service],
    [`corrected: as if one were sent every ${corrected?.intervalMs} ms per connection`, corrected],
  ];
  const cells = (figures: LatencyFigures) =>
    [figures.p50Ms, figures.p90Ms, figures.p99Ms, figures.p999Ms, figures.maxMs]
      .map(ms => `<td class="number">${formatMs(ms)}</td>`)
      .join("");
  const body = rows
    .map(([name, figures]) => (figures === undefined ? "" : `<tr><th>${name}</th>${cells(figures)}</tr>`))
    .join("");
  const head = ["p50", "p90", "p99", "p99.9", "max"].map(name => `<th class="number">${name}</th>`).join("");
  return `<div class="scroll"><table><tr><th>ms</th>${head}</tr>${body}</table></div>`;
}

function writeErrors(report: LoadReport): string {
  const lines = listErrors(report);
  if (lines.length === 0) return "<p>none</p>";
  return `<ul class="bad">${lines.map(line => `<li>${escapeText(line)}</li>`).join("")}</ul>`;
}

function writeVerification({verification}: LoadReport): string {
  const wrong = verification.wrongAnswers.map(
    ({reason, call}) => `<li><span class="bad">${escapeText(reason)}</span>; asked ${escapeText(call)}</li>`,
  );
  return `<p>${escapeText(describeVerification(verification))}</p><ul>${wrong.join("")}</ul>`;
}

function writeSettings(report: LoadReport): string {
  const {settings, seconds, generator, server} = report;
  const rows: [string, string][] = [
    [
      "server",
      `${server.client ?? "unnamed"}, chain ${server.chainId ?? "unknown"}, blocks ${server.oldest ?? "?"} to ${server.newest ?? "?"}`,
    ],
    ["calls", `${settings.style} style, ${describeCalls(settings)}`],
    ["pace", settings.rate === undefined ? "closed loop" : `open loop, ${settings.rate} requests/s`],
    ["connections", String(settings.connections)],
    ["calls per request", String(settings.batch)],
    ["time", `${seconds} s after ${settings.warmUpSeconds} s of warm-up; time-out ${settings.timeoutMs} ms`],
    ["limits", describeLimits(settings.limits)],
    ["seed", String(settings.seed)],
    ["generator", describeGenerator({generator})],
    ["generator's machine", describeMachine(report)],
  ];
  const body = rows.map(([name, value]) => `<tr><th>${name}</th><td>${escapeText(value)}</td></tr>`).join("");
  return `<div class="scroll"><table>${body}</table></div>`;
}

function describeLimits({maxErrors, maxP99Ms}: LoadReport["settings"]["limits"]): string {
  const p99 = maxP99Ms === undefined ? "" : `; p99 at most ${maxP99Ms} ms`;
  return `failed calls at most ${writeErrorLimit(maxErrors)}${p99}`;
}

function escapeText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
