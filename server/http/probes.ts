/** Answers the requests of operators and their tools: GET /healthz, /readyz, /metrics. */
import type {Logger} from "pino";
import type {Readiness} from "../observe/readiness.ts";
import type {Scrapes} from "../observe/scrapes.ts";
import type {Header} from "./cors.ts";
import {RETRY_AFTER, sendWhole} from "./refusals.ts";
import type {Reply} from "./reply.ts";

const TEXT_TYPE: Header = ["Content-Type", "text/plain; charset=utf-8"];

export interface ProbeParts {
  readonly scrapes: Scrapes<{readonly type: string; readonly text: string}>;
  readonly readiness: Readiness;
  readonly log: Logger;
}

/** @param isStopping - whether the service was stopping when the request came */
type Probe = (parts: ProbeParts, reply: Reply, verb: string, isStopping: boolean) => void;

/** The probes by path. */
export const PROBES: ReadonlyMap<string, Probe> = new Map<string, Probe>([
  ["/healthz", (_parts, reply, verb) => sendText(reply, verb, "ok\n")],
  ["/readyz", answerReadiness],
  ["/metrics", answerMetrics],
]);

function answerReadiness(parts: ProbeParts, reply: Reply, verb: string, isStopping: boolean): void {
  const obstacles = isStopping ? ["stopping"] : parts.readiness.readObstacles();
  // Finality that has stopped is a remark: what is finalized stays so.
  const remarks = parts.readiness.readRemarks();
  const text = [...(obstacles.length === 0 ? ["ready"] : obstacles), ...remarks, ""].join("\n");
  if (obstacles.length === 0) sendText(reply, verb, text);
  else sendWhole(reply, verb, "503 Service Unavailable", [TEXT_TYPE, RETRY_AFTER], text);
}

function answerMetrics({scrapes, log}: ProbeParts, reply: Reply, verb: string): void {
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
