/**
 * GET for proofs at finalized blocks. They never change, so a cache may keep them (RFC 9111), but not for ever: an
 * operator may remove finalized blocks that are wrong.
 *
 *   GET /v1/proof/0x64/0xADDRESS?slots=0x0        ->  200, ETag "STATEROOT-DIGEST", Cache-Control: public, max-age=3600
 *   .. with If-None-Match: "STATEROOT-DIGEST"     ->  304, and no proof is made
 *
 * The status of an error tells a balancer what to do: 503, if another service may have the block.
 */

import type {Work} from "../fairness/work.ts";
import {PROOF_AGE_SECONDS} from "../limits.ts";
import {type ProofTarget, parseProofTarget} from "../methods/proof/proofTarget.ts";
import type {ProvableBlocks} from "../methods/provableBlocks.ts";
import type {ReplySink} from "../request/replySink.ts";
import type {RequestRecord} from "../request/requestRecord.ts";
import type {Call} from "../rpc/envelope.ts";
import {encodeError, RpcCode, RpcError} from "../rpc/rpcError.ts";
import type {Header} from "./cors.ts";
import {RETRY_AFTER, refusePath} from "./refusals.ts";
import {headHeader, JSON_TYPE, type Reply} from "./reply.ts";

export interface ProofParts {
  readonly rpc: {
    answer(body: Buffer, reply: ReplySink, record: RequestRecord): Work;
    answerCall(call: Call, reply: ReplySink, record: RequestRecord): Work;
  };
  readonly blocks: ProvableBlocks;
}

export interface ProofRequest {
  /** Begins with /v1/. */
  readonly path: string;
  readonly query: string;
  readonly ifNoneMatch: string;
}

const BAD_REQUEST = "400 Bad Request";
const UNAVAILABLE = "503 Service Unavailable";
const KEEP: Header = ["Cache-Control", `public, max-age=${PROOF_AGE_SECONDS}`];
const NO_STORE: Header = ["Cache-Control", "no-store"];

export function answerProof(
  {blocks}: ProofParts,
  reply: Reply,
  {path, query, ifNoneMatch}: ProofRequest,
  answerCall: (call: Call) => void,
): void {
  let target: ProofTarget | undefined;
  try {
    target = parseProofTarget(path, query);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    reply.send(BAD_REQUEST, [JSON_TYPE, NO_STORE], encodeError("null", error), false);
    return;
  }
  if (target === undefined) {
    refusePath(reply, "get");
    return;
  }
  const {call, block, digest} = target;
  const root = blocks.findRoot(block);
  const tag = root === undefined ? undefined : `"${Buffer.from(root).toString("hex")}-${digest}"`;
  if (tag !== undefined && ifNoneMatch.split(",").some(one => one.trim().replace(/^W\//, "") === tag)) {
    reply.send("304 Not Modified", [["ETag", tag], KEEP], "", false);
    return;
  }
  const isAhead = root === undefined && blocks.isAhead(block);
  reply.describe = ({code}) => {
    // A proof that came although its root was not found: its block was finalized meanwhile, and has no tag yet.
    if (code === 0)
      return {status: "200 OK", headers: tag === undefined ? [NO_STORE] : [["ETag", tag], KEEP]};
    const status = statusOf(code, isAhead);
    const retry = status === UNAVAILABLE ? [RETRY_AFTER, ...headHeader(blocks.latest)] : [];
    return {status, headers: [NO_STORE, ...retry]};
  };
  answerCall(call);
}

function statusOf(code: number, isAhead: boolean): string {
  if (code === RpcCode.INVALID_PARAMS) return BAD_REQUEST;
  if (code === RpcCode.BLOCK_UNKNOWN) return isAhead ? UNAVAILABLE : "404 Not Found";
  const isBusy = code === RpcCode.NOT_FINALIZED || code === RpcCode.LIMIT_EXCEEDED;
  return isBusy ? UNAVAILABLE : "500 Internal Server Error";
}
