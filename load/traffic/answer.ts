/**
 * Counts results and errors in the body of an HTTP 200 answer.
 *
 * Hot: in most answers, each call has a result. Such a body contains `"result"` once per call and no `"error"`, so it
 * is not parsed. (Results are hex, and cannot contain these strings.) Other bodies are parsed.
 */
import {createRedaction} from "proofd-client";
import type {RequestBody} from "../requests/requestMaker.ts";
import type {Endpoint} from "./connection.ts";

interface RpcTrouble {
  readonly code: number;
  readonly message: string;
  readonly calls: number;
}

/** Counts each call once: as a result, an error or malformed. */
export interface Verdict {
  /** Calls with a result, estimates included. */
  readonly results: number;
  readonly estimateResults: number;
  readonly troubles: readonly RpcTrouble[];
  /** Calls without result and error; all calls if the body is not valid. */
  readonly malformed: number;
  readonly malformedReason: string;
}

const RESULT = Buffer.from('"result"');
const ERROR = Buffer.from('"error"');
const OBJECT = "{".charCodeAt(0);
const ARRAY = "[".charCodeAt(0);
const NOTHING: Verdict = {
  results: 0,
  estimateResults: 0,
  troubles: [],
  malformed: 0,
  malformedReason: "",
};
const REASON_CHARACTERS = 120;

type Shown = (text: unknown) => string;

/** @returns `shorten` that also removes the keys of the URL and the headers */
export function createShown({origin, path, headers}: Endpoint): Shown {
  const redact = createRedaction(new URL(`${origin}${path}`), headers);
  return text => shorten(typeof text === "string" ? redact(text) : text);
}

export function readAnswer(body: Buffer, request: RequestBody, batch: number, shown: Shown): Verdict {
  const opening = batch === 1 ? OBJECT : ARRAY;
  if (body[0] === opening && countToken(body, RESULT) === batch && !body.includes(ERROR)) {
    const estimateResults = request.estimates.length;
    return {...NOTHING, results: batch, estimateResults};
  }
  return parseAnswer(body.toString("utf8"), request, batch, shown);
}

function countToken(body: Buffer, token: Buffer): number {
  let count = 0;
  for (let at = body.indexOf(token); at !== -1; at = body.indexOf(token, at + 1)) count++;
  return count;
}

function parseAnswer(text: string, request: RequestBody, batch: number, shown: Shown): Verdict {
  let answer: unknown;
  const malformed = (reason: string): Verdict => ({
    ...NOTHING,
    malformed: batch,
    malformedReason: `${reason}: ${shown(text)}`,
  });
  try {
    answer = JSON.parse(text);
  } catch {
    return malformed("not JSON");
  }
  const isWhole = !Array.isArray(answer);
  // A server refuses a whole batch with one error object.
  if (isWhole && batch > 1) {
    const trouble = readTrouble(answer, batch, shown);
    return trouble === undefined ? malformed("no array of answers") : {...NOTHING, troubles: [trouble]};
  }
  if (!isWhole && batch === 1) return malformed("an array for a single call");
  return readElements(isWhole ? [answer] : (answer as unknown[]), request, batch, shown);
}

function readElements(
  elements: readonly unknown[],
  request: RequestBody,
  batch: number,
  shown: Shown,
): Verdict {
  const byId = new Map<unknown, Record<string, unknown>>();
  for (const element of elements) if (isObject(element)) byId.set(element.id, element);
  const estimates = new Set(request.estimates);
  const troubles: RpcTrouble[] = [];
  let results = 0;
  let estimateResults = 0;
  let malformed = 0;
  let malformedReason = "";
  for (let id = 0; id < batch; id++) {
    // An error has the id null if the server could not read the request.
    const element = byId.get(id) ?? (batch === 1 ? byId.get(null) : undefined);
    const trouble = readTrouble(element, 1, shown);
    if (trouble !== undefined) {
      troubles.push(trouble);
    } else if (element !== undefined && element.id === id && Object.hasOwn(element, "result")) {
      results++;
      if (estimates.has(id)) estimateResults++;
    } else {
      malformed++;
      malformedReason ||=
        element === undefined ? `no answer with id ${id}` : `neither result nor error for id ${id}`;
    }
  }
  return {results, estimateResults, troubles, malformed, malformedReason};
}

function readTrouble(element: unknown, calls: number, shown: Shown): RpcTrouble | undefined {
  if (!isObject(element) || !isObject(element.error) || !Number.isSafeInteger(element.error.code))
    return undefined;
  const {code, message} = element.error;
  return {code: code as number, message: shown(message), calls};
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * The start of a text of the server; "" for other values. Control characters become spaces, so that the text cannot
 * forge lines of a report or control a terminal.
 */
export function shorten(text: unknown): string {
  if (typeof text !== "string") return "";
  const plain = text.slice(0, REASON_CHARACTERS).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
  return text.length > REASON_CHARACTERS ? `${plain}...` : plain;
}
