/** The content of a report as tables and lines, for textReport.ts and htmlReport.ts. */
import type {Verification} from "../verification/verifySamples.ts";
import {count, formatCount, formatMegabytes, formatMs, percent} from "./figureText.ts";
import type {LoadReport} from "./loadReport.ts";
import {writeMachine} from "./machine.ts";

/** The head of a table names the labels, then each column of cells. Facts are a label and lines. */
export function describeReport(report: LoadReport) {
  const {perSecond, requests, calls, seconds, loop, machine, version, commit, against} = report;
  const latencies = [
    {label: loop === "open" ? "from due" : "service", of: report.latency},
    {label: "service", of: report.service},
  ].flatMap(({label, of}) =>
    of === undefined ? [] : [[label, ...[of.p50Ms, of.p90Ms, of.p99Ms, of.p999Ms, of.maxMs].map(formatMs)]],
  );
  const errors = listErrors(report);
  return {
    intro: [describeServer(report), describeLoad(report)],
    tables: [
      {
        head: ["", "per second", "in all"],
        rows: [
          ["requests", ...[perSecond.requests, requests.answered].map(formatCount)],
          ["calls", ...[perSecond.calls, calls.results].map(formatCount)],
          ["proofs", ...[perSecond.proofs, calls.proofs].map(formatCount)],
          ["received", ...[perSecond.bytes, perSecond.bytes * seconds].map(formatMegabytes)],
        ],
      },
      {
        head: ["latency, ms", "p50", "p90", "p99", "p99.9", "max"],
        rows: latencies.length === 0 ? [["", "no request got a result"]] : latencies,
      },
      ...(against === undefined
        ? []
        : [
            {
              head: ["against", "earlier", "now", "ratio"],
              rows: against.figures.map(({name, earlier, now}) => [
                name,
                ...[earlier, now].map(n => (n < 100 ? String(Number(n.toPrecision(3))) : formatCount(n))),
                (now / earlier).toFixed(2),
              ]),
            },
          ]),
    ],
    facts: [
      ["errors", ...(errors.length === 0 ? ["none"] : errors)],
      [
        "verified",
        describeVerification(report.verification),
        ...report.verification.wrongAnswers.map(({reason, call}) => `wrong: ${reason}; asked ${call}`),
      ],
      ["server", describeUsage(report)],
      ["generator", describeGenerator(report)],
      ["machine", `${writeMachine(machine)}; proofd ${version}, commit ${commit}`],
      ["command", report.command],
      ...(against === undefined
        ? []
        : [["earlier", `${against.startedAt}, commit ${against.commit}: ${against.command}`]]),
    ],
  };
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

/** A line per kind of error: count, kind, first message. */
function listErrors({errors, settings}: LoadReport): string[] {
  const line = (what: string, {code, count: n, message}: LoadReport["errors"]["rpc"][number], unit: string) =>
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

function describeVerification(verification: Verification): string {
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

function describePresence({present, absent}: Verification["slots"], unit: string): string {
  return `${count(present, unit)} present, ${formatCount(absent)} absent`;
}

function describeUsage({serverUsage, perSecond}: LoadReport): string {
  if (typeof serverUsage === "string") return `CPU and memory unknown: ${serverUsage}`;
  const {cpuCores, memoryBytes} = serverUsage;
  const perProof =
    perSecond.proofs === 0 ? "" : `, ${formatMs((1e6 * cpuCores) / perSecond.proofs)} us a proof`;
  return `${count(cpuCores, "core")}${perProof}; memory ${formatMegabytes(memoryBytes)}`;
}

function describeGenerator({generator}: LoadReport): string {
  const {utilization, starved, cpuCores, sendLag} = generator;
  const lag =
    sendLag === undefined
      ? ""
      : `; requests left ${formatMs(sendLag.p50Ms)} ms late (p50), ${formatMs(sendLag.p99Ms)} (p99)`;
  const list = (shares: readonly number[]) => shares.map(percent).join(", ");
  const lack = starved.some(share => share > 0) ? ` (of that without a core ${list(starved)})` : "";
  return `threads busy ${list(utilization)}${lack}; ${count(cpuCores, "core")}${lag}`;
}
