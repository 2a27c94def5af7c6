/** Answers the requests of operators and their tools: GET /healthz, /readyz, /metrics. */
import type {Logger} from "pino";
import type {AskedReadiness, Readiness} from "../observe/readiness.ts";
import type {Scrapes} from "../observe/scrapes.ts";
import {parseBlockNumber} from "../rpc/quantity.ts";
import type {Header} from "./cors.ts";
import {RETRY_AFTER, sendWhole} from "./refusals.ts";
import type {Reply} from "./reply.ts";

const ASKED_EXPECTED =
  "expected no query, block=0x.. (a block that must be provable), lag=N (most seconds that the newest block may be old), or both\n";
const TEXT_TYPE: Header = ["Content-Type", "text/plain; charset=utf-8"];

export interface ProbeParts {
  readonly scrapes: Scrapes<{readonly type: string; readonly text: string}>;
  readonly readiness: Readiness;
  readonly log: Logger;
}

interface ProbeRequest {
  readonly verb: string;
  readonly query: string;
  readonly isStopping: boolean;
  /** Whether it came on the port for all, not on that of --metrics-port. */
  readonly isPublic: boolean;
}

type Probe = (parts: ProbeParts, reply: Reply, request: ProbeRequest) => void;

export const METRICS = "/metrics";

export const PROBES: ReadonlyMap<string, Probe> = new Map<string, Probe>([
  ["/healthz", (_parts, reply, {verb}) => sendText(reply, verb, "ok\n")],
  ["/readyz", answerReadiness],
  [METRICS, answerMetrics],
]);

function answerReadiness({readiness}: ProbeParts, reply: Reply, request: ProbeRequest): void {
  const {verb, query, isStopping, isPublic} = request;
  const asked = parseAsked(query);
  if (asked === undefined) {
    sendWhole(reply, verb, "400 Bad Request", [TEXT_TYPE], ASKED_EXPECTED);
    return;
  }
  const obstacles = isStopping ? ["stopping"] : readiness.readObstacles(asked, isPublic);
  // Finality that has stopped is a remark: what is finalized stays so.
  const remarks = readiness.readRemarks(isPublic);
  const text = [...(obstacles.length === 0 ? ["ready"] : obstacles), ...remarks, ""].join("\n");
  if (obstacles.length === 0) sendText(reply, verb, text);
  else sendWhole(reply, verb, "503 Service Unavailable", [TEXT_TYPE, RETRY_AFTER], text);
}

/** @returns what /readyz is asked for besides readiness; undefined for a query that asks for something else */
function parseAsked(query: string): AskedReadiness | undefined {
  let block: number | undefined;
  let lagSeconds: number | undefined;
  for (const part of query === "" ? [] : query.split("&")) {
    const [name, value = "", ...rest] = part.split("=");
    if (rest.length > 0) return undefined;
    if (name === "block" && block === undefined) {
      block = parseBlockNumber(value);
      if (block === undefined) return undefined;
    } else if (name === "lag" && lagSeconds === undefined && /^[1-9][0-9]{0,8}$/.test(value))
      lagSeconds = Number(value);
    else return undefined;
  }
  return {block, lagSeconds};
}

function answerMetrics({scrapes, log}: ProbeParts, reply: Reply, {verb}: ProbeRequest): void {
  scrapes.read().then(
    ({type, text}) => sendWhole(reply, verb, "200 OK", [["Content-Type", type]], text),
    (error: unknown) => {
      log.error({err: error}, "metrics could not be read");
      sendWhole(reply, verb, "500 Internal Server Error", [TEXT_TYPE], "metrics could not be read\n");
    },
  );
}

function sendText(reply: Reply, verb: string, text: string): void {
  sendWhole(reply, verb, "200 OK", [TEXT_TYPE], text);
}
