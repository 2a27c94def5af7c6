/** The report as text for a terminal. */
import type {PresenceCount} from "../verification/verification.ts";
import {count, formatCount, formatMegabytes, formatMs, percent} from "./figureText.ts";
import type {LoadReport, ReportedError} from "./loadReport.ts";
import {writeMachine} from "./machine.ts";

const LABEL_WIDTH = 12;
const CELL_WIDTH = 11;

export function writeTextReport(report: LoadReport): string {
  const {perSecond, requests, calls, seconds, loop, machine, version, commit} = report;
  const figures: readonly [label: string, format: (n: number) => string, ...values: number[]][] = [
    ["requests", formatCount, perSecond.requests, requests.answered],
    ["calls", formatCount, perSecond.calls, calls.results],
    ["proofs", formatCount, perSecond.proofs, calls.proofs],
    ["received", formatMegabytes, perSecond.bytes, perSecond.bytes * seconds],
  ];
  const latencies = [
    {label: loop === "open" ? "from due" : "service", of: report.latency},
    {label: "service", of: report.service},
    {label: "corrected", of: report.corrected},
  ].flatMap(({label, of}) =>
    of === undefined
      ? []
      : [writeCells(label, [of.p50Ms, of.p90Ms, of.p99Ms, of.p999Ms, of.maxMs].map(formatMs))],
  );
  const errors = listErrors(report);
  const lines = [
    describeServer(report),
    describeLoad(report),
    "",
    writeCells("", ["per second", "in all"]),
    ...figures.map(([label, format, ...values]) => writeCells(label, values.map(format))),
    "",
    writeCells("latency, ms", ["p50", "p90", "p99", "p99.9", "max"]),
    ...(latencies.length === 0 ? [writeCells("", ["no request got a result"])] : latencies),
    "",
    ...(errors.length === 0 ? ["none"] : errors).map((line, i) => writeText(i === 0 ? "errors" : "", line)),
    writeText("verified", describeVerification(report.verification)),
    ...report.verification.wrongAnswers.map(({reason, call}) =>
      writeText("", `wrong: ${reason}; asked ${call}`),
    ),
    writeText("generator", describeGenerator(report)),
    writeText("machine", `${writeMachine(machine)}; proofd ${version}, commit ${commit}`),
    writeText("command", report.command),
    ...report.notes.map(note => `note: ${note}`),
    ...(report.failures.length === 0 ? ["passed"] : report.failures.map(failure => `FAILED: ${failure}`)),
  ];
  return `${lines.join("\n")}\n`;
}

function describeServer({url, server}: LoadReport): string {
  const chain = server.chainId === undefined ? "" : `, chain ${server.chainId}`;
  const blocks = server.newest === undefined ? "" : `, blocks ${server.oldest ?? "?"} to ${server.newest}`;
  return `${url}: ${server.client ?? "a server that does not name itself"}${chain}${blocks}`;
}

function describeLoad({loop, settings, seconds}: LoadReport): string {
  const {connections, threads, batch, rate, warmUpSeconds} = settings;
  const pace = loop === "open" ? `open loop, ${formatCount(rate ?? 0)} requests/s` : "closed loop";
  return (
    `${pace}, ${count(connections, "connection")}, ${count(threads, "thread")}, ${count(batch, "call")} per request, ` +
    `${seconds} s after ${warmUpSeconds} s of warm-up; ${describeCalls(settings)}`
  );
}

/** What the calls ask for. */
function describeCalls(settings: LoadReport["settings"]): string {
  const {blocks, slots, absent, estimates, keys} = settings;
  const span =
    blocks === undefined
      ? "block latest"
      : blocks.low === blocks.high
        ? `block ${blocks.low}`
        : `blocks ${blocks.low} to ${blocks.high}`;
  const parts = [span, keys];
  if (slots > 0) parts.push(`${count(slots, "slot")} each`);
  if (absent > 0) parts.push(`${percent(absent)} absent`);
  if (estimates > 0) parts.push(`${percent(estimates)} estimates`);
  return parts.join(", ");
}

/** One line for each kind of error: how many, of what, and the first message. */
function listErrors({errors, settings}: LoadReport): string[] {
  const line = (what: string, {code, count: n, message}: ReportedError, unit: string) =>
    `${count(n, unit)}: ${what} ${code}${message === "" ? "" : `: ${message}`}`;
  const lines = [
    ...errors.rpc.map(error => line("JSON-RPC error", error, "call")),
    ...errors.http.map(error => line("HTTP status", error, "request")),
    ...errors.socket.map(error => line("socket error", error, "request")),
  ];
  if (errors.timeouts > 0) {
    const never = errors.neverSent === 0 ? "" : `, ${formatCount(errors.neverSent)} of them never sent`;
    lines.push(`${count(errors.timeouts, "request")}: no answer within ${settings.timeoutMs} ms${never}`);
  }
  if (errors.malformed > 0)
    lines.push(`${count(errors.malformed, "call")}: HTTP 200 without an answer: ${errors.malformedReason}`);
  return lines;
}

function describeVerification(verification: LoadReport["verification"]): string {
  const {checked, wrong, accounts, slots, estimates, skipped} = verification;
  if (skipped !== undefined) return `nothing: ${skipped}`;
  const parts: string[] = [];
  if (accounts.present + accounts.absent > 0) parts.push(describePresence(accounts, "account"));
  if (slots.present + slots.absent > 0) parts.push(describePresence(slots, "slot"));
  if (estimates > 0) parts.push(`${count(estimates, "estimate")} (their form only)`);
  const verdict = wrong === 0 ? "all right" : `${formatCount(wrong)} WRONG`;
  const right = wrong === 0 ? ": " : "; the others: ";
  return `${count(checked, "answer")}, ${verdict}${parts.length === 0 ? "" : right}${parts.join("; ")}`;
}

function describePresence({present, absent}: PresenceCount, unit: string): string {
  return `${count(present, unit)} present, ${formatCount(absent)} absent`;
}

function describeGenerator({generator}: LoadReport): string {
  const {utilization, starved, cpuCores, sendLag} = generator;
  const lag =
    sendLag === undefined
      ? ""
      : `; requests left ${formatMs(sendLag.p50Ms)} ms late (p50), ${formatMs(sendLag.p99Ms)} (p99)`;
  const list = (shares: readonly number[]) => shares.map(percent).join(", ");
  const lack = starved.some(share => share > 0) ? ` (of that without a core ${list(starved)})` : "";
  return `threads busy ${list(utilization)}${lack}; ${cpuCores} cores${lag}`;
}

function writeCells(label: string, cells: readonly string[]): string {
  return `${label.padEnd(LABEL_WIDTH)}${cells.map(cell => cell.padStart(CELL_WIDTH)).join("")}`.trimEnd();
}

function writeText(label: string, text: string): string {
  return `${label.padEnd(LABEL_WIDTH)}  ${text}`.trimEnd();
}
