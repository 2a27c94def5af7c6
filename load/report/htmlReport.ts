/**
 * The report as one self-contained HTML file: tables, charts (drawn by uPlot, which is inlined) and the report as JSON.
 * Its content security policy forbids loading anything.
 */
import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {isInconclusive} from "./judgement.ts";
import {encodeReport, type LoadReport} from "./loadReport.ts";
import {describeReport} from "./reportContent.ts";

// Not compiled, so they stay in the source folder.
const STYLE = new URL(import.meta.resolve("proofd-load/html/report.css"));
const CHARTS = new URL(import.meta.resolve("proofd-load/html/charts.js"));
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

export function writeHtmlReport(report: LoadReport): string {
  const require = createRequire(import.meta.url);
  const style = readFileSync(require.resolve("uplot/dist/uPlot.min.css"), "utf8");
  const library = readFileSync(require.resolve("uplot/dist/uPlot.iife.min.js"), "utf8");
  const page = readFileSync(STYLE, "utf8");
  const charts = readFileSync(CHARTS, "utf8");
  const [tone, verdict] = judge(report);
  const {intro, tables, facts} = describeReport(report);
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
<h1>proofd load</h1>
<p>${escapeText(report.startedAt)}</p>
${intro.map(line => `<p>${escapeText(line)}</p>`).join("\n")}
<p class="verdict ${tone}">${verdict}</p>
${writeList("bad", report.failures)}
${writeList("warning", report.warnings)}
<div class="tables">${tables.map(writeTable).join("\n")}</div>
<dl>${facts.map(writeFact).join("\n")}</dl>
${report.notes.map(note => `<p>${escapeText(note)}</p>`).join("\n")}
<h2>Latency by percentile</h2>
<div class="chart" id="percentiles">No request got a result.</div>
<h2>Throughput over time</h2>
<div class="chart" id="throughput">Less than a second was measured.</div>
<h2>Latency over time</h2>
<div class="chart" id="latency">Less than a second was measured.</div>
<script type="application/json" id="report">${encodeReport(report).replaceAll("<", "\\u003c")}</script>
<script>${library}</script>
<script>${charts}</script>
</body>
</html>
`;
}

function writeList(tone: "bad" | "warning", sentences: readonly string[]): string {
  return `<ul class="${tone}">${sentences.map(sentence => `<li>${escapeText(sentence)}</li>`).join("")}</ul>`;
}

function writeFact([label = "", ...texts]: readonly string[]): string {
  return `<dt>${label}</dt>${texts.map(text => `<dd>${escapeText(text)}</dd>`).join("")}`;
}

function writeTable({
  head: [label = "", ...columns],
  rows,
}: ReturnType<typeof describeReport>["tables"][number]): string {
  const cells = (texts: readonly string[]) => texts.map(text => `<td>${escapeText(text)}</td>`).join("");
  const head = columns.map(column => `<th scope="col">${column}</th>`).join("");
  const body = rows.map(([name = "", ...texts]) => `<tr><th scope="row">${name}</th>${cells(texts)}</tr>`);
  return `<table><thead><tr><th scope="col">${label}</th>${head}</tr></thead><tbody>${body.join("")}</tbody></table>`;
}

function judge(report: LoadReport): [tone: "good" | "bad" | "warning" | "", verdict: string] {
  if (isInconclusive(report)) return ["warning", "inconclusive"];
  if (report.failures.length > 0) return ["bad", "failed"];
  return report.verification.checked === 0 ? ["", "passed, nothing verified"] : ["good", "passed"];
}

function escapeText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
