/**
 * The methods that the main thread answers itself, from the head and a block's record. chain_getProof and
 * chain_getProofAt need a tree and chain_estimateGas an EVM: they go to the lanes (proofParams.ts, estimateParams.ts,
 * dispatch/).
 */
import type {Failure} from "../../workers/job/failure.ts";
import type {BlockSummary} from "../../workers/pool/chainView.ts";
import type {Call} from "../rpc/envelope.ts";
import {encodeQuantity} from "../rpc/quantity.ts";
import {createBlockUnknownError, RpcCode, RpcError} from "../rpc/rpcError.ts";
import {VERSION} from "../version.ts";
import {type BlockView, resolveSelector} from "./selector.ts";

export const PROOF_METHOD = "chain_getProof";
export const PROOF_AT_METHOD = "chain_getProofAt";
export const ESTIMATE_METHOD = "chain_estimateGas";

/** What the methods see: one head, and reads that do not depend on when they happen. */
export interface ServiceView extends BlockView {
  readonly suite: string;
  readonly chainId: bigint | undefined;
  readonly readBlock: (block: number) => BlockSummary | Failure;
}

interface Method {
  /** The order of the parameters, for messages. */
  readonly params: string;
  /** @returns the result as JSON text. @throws RpcError, or anything else where it is our fault */
  readonly answer: (params: readonly unknown[], view: ServiceView) => string;
}

/** Thrown for a record that is damaged; `cause` is the failure. */
export class RecordFailure extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.detail);
    this.name = "RecordFailure";
    this.failure = failure;
  }
}

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["chain_getStateRoot", {params: "[block]", answer: answerStateRoot}],
  ["chain_getCoverage", {params: "[]", answer: answerCoverage}],
  ["chain_chainId", {params: "[]", answer: answerChainId}],
  ["web3_clientVersion", {params: "[]", answer: answerClientVersion}],
]);

/** Names under which calls are counted; everything else is "unknown". */
export const METHOD_NAMES: readonly string[] = [
  PROOF_METHOD,
  PROOF_AT_METHOD,
  ESTIMATE_METHOD,
  ...METHODS.keys(),
];

/**
 * @returns the result of any method but those of the lanes, as JSON text
 * @throws RpcError METHOD_NOT_FOUND, INVALID_PARAMS and those of the method
 */
export function answerMethod(call: Call, view: ServiceView): string {
  const method = METHODS.get(call.method);
  if (method === undefined) {
    throw new RpcError(
      RpcCode.METHOD_NOT_FOUND,
      `there is no method ${JSON.stringify(call.method.slice(0, 64))}`,
    );
  }
  return method.answer(requireArray(call, method.params), view);
}

/** @param order - of the parameters, for the message. @throws RpcError INVALID_PARAMS for params by name */
export function requireArray(call: Call, order: string): readonly unknown[] {
  if (Array.isArray(call.params)) return call.params;
  throw new RpcError(
    RpcCode.INVALID_PARAMS,
    `params is an object: ${call.method} takes its parameters by position, ${order}`,
  );
}

function requireAtMost(params: readonly unknown[], count: number, order: string): void {
  if (params.length <= count) return;
  throw new RpcError(RpcCode.INVALID_PARAMS, `params has ${params.length} elements: expected ${order}`);
}

function answerStateRoot(params: readonly unknown[], view: ServiceView): string {
  requireAtMost(params, 1, "[block]");
  const block = resolveSelector(params[0] ?? "latest", "params[0] (block)", "held", view);
  const summary = view.readBlock(block);
  if ("failure" in summary) {
    if (summary.failure === "BLOCK_UNKNOWN") throw createBlockUnknownError(encodeQuantity(block), view.head);
    throw new RecordFailure(summary);
  }
  const isFinalized = view.head.finalized !== null && block <= view.head.finalized;
  return (
    `{"number":"${encodeQuantity(block)}","hash":"0x${Buffer.from(summary.hash).toString("hex")}",` +
    `"stateRoot":"0x${Buffer.from(summary.stateRoot).toString("hex")}","finalized":${isFinalized}}`
  );
}

function answerCoverage(params: readonly unknown[], view: ServiceView): string {
  requireAtMost(params, 0, "[]");
  const {earliest, finalized, latest} = view.head;
  return JSON.stringify({
    earliest: encodeQuantity(earliest),
    finalized: encodeQuantity(finalized),
    latest: encodeQuantity(latest),
    suite: view.suite,
  });
}

function answerChainId(params: readonly unknown[], view: ServiceView): string {
  requireAtMost(params, 0, "[]");
  if (view.chainId === undefined) {
    const reason = "block 0 of this store names no chain id (start with --chain-id to name it)";
    throw new RpcError(RpcCode.NOT_AVAILABLE, `chain_chainId is not available: ${reason}`);
  }
  return JSON.stringify(encodeQuantity(view.chainId));
}

function answerClientVersion(params: readonly unknown[]): string {
  requireAtMost(params, 0, "[]");
  return JSON.stringify(`proofd/${VERSION}/${process.platform}-${process.arch}/node${process.versions.node}`);
}
