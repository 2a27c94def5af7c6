/** The report as text for a terminal. */
import type {LatencyFigures} from "../traffic/latency.ts";
import type {PresenceCount} from "../verification/verification.ts";
import {count, formatCount, formatMegabytes, formatMs, percent} from "./figureText.ts";
import type {LoadReport, ReportedError} from "./loadReport.ts";
import {writeMachine} from "./machine.ts";

const LABEL_WIDTH = 12;
const CELL_WIDTH = 11;

export function writeTextReport(report: LoadReport): string {
  const {perSecond, requests, calls, seconds} = report;
  const lines = [
    describeServer(report),
    describeLoad(report),
    "",
    writeCells("", ["per second", "in all"]),
    writeCells("requests", [formatCount(perSecond.requests), formatCount(requests.answered)]),
    writeCells("calls", [formatCount(perSecond.calls), formatCount(calls.results)]),
    writeCells("proofs", [formatCount(perSecond.proofs), formatCount(calls.proofs)]),
    writeCells("received", [formatMegabytes(perSecond.bytes), formatMegabytes(perSecond.bytes * seconds)]),
    "",
    writeCells("latency, ms", ["p50", "p90", "p99", "p99.9", "max"]),
    ...writeLatencies(report),
    "",
    ...writeErrors(report),
    ...writeVerification(report),
    writeCells("generator", [describeGenerator(report)], "left"),
    writeCells("machine", [describeMachine(report)], "left"),
    writeCells("command", [report.command], "left"),
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

function writeLatencies({loop, latency, service, corrected}: LoadReport): string[] {
  if (latency === undefined) return [writeCells("", ["no request got a result"])];
  const lines = [writeLatency(loop === "open" ? "from due" : "service", latency)];
  if (service !== undefined) lines.push(writeLatency("service", service));
  if (corrected !== undefined) lines.push(writeLatency("corrected", corrected));
  return lines;
}

function writeLatency(label: string, {p50Ms, p90Ms, p99Ms, p999Ms, maxMs}: LatencyFigures): string {
  return writeCells(label, [p50Ms, p90Ms, p99Ms, p999Ms, maxMs].map(formatMs));
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

function writeErrors(report: LoadReport): string[] {
  const lines = listErrors(report);
  return lines.length === 0
    ? [writeCells("errors", ["none"], "left")]
    : lines.map((line, i) => writeCells(i === 0 ? "errors" : "", [line], "left"));
}

function writeVerification({verification}: LoadReport): string[] {
  return [
    writeCells("verified", [describeVerification(verification)], "left"),
    ...verification.wrongAnswers.map(({reason, call}) =>
      writeCells("", [`wrong: ${reason}; asked ${call}`], "left"),
    ),
  ];
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

function describeMachine({machine, version, commit}: LoadReport): string {
  return `${writeMachine(machine)}; proofd ${version}, commit ${commit}`;
}

function describeGenerator({generator}: LoadReport): string {
  const {utilization, cpuCores, sendLag} = generator;
  const lag =
    sendLag === undefined
      ? ""
      : `; requests left ${formatMs(sendLag.p50Ms)} ms late (p50), ${formatMs(sendLag.p99Ms)} (p99)`;
  return `threads busy ${utilization.map(percent).join(", ")}; ${cpuCores} cores${lag}`;
}

function writeCells(label: string, cells: readonly string[], align: "left" | "right" = "right"): string {
  const padded = align === "left" ? cells : cells.map(cell => cell.padStart(CELL_WIDTH));
  return `${label.padEnd(LABEL_WIDTH)}${align === "left" ? "  " : ""}${padded.join("")}`.trimEnd();
}
