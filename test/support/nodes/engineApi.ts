/**
 * The consensus client's part of a post-merge node: engine API calls that make blocks, hand them over and choose the head, from
 * paris to osaka.
 *
 * https://github.com/ethereum/execution-apis/tree/main/src/engine
 */
import {createHmac} from "node:crypto";
import {RLP} from "@ethereumjs/rlp";
import {toHex} from "../../../storage/hex.ts";
import type {RpcAnswer} from "../http/rpcAnswer.ts";

/** The forks whose engine calls this knows. */
export type EngineFork = "paris" | "shanghai" | "cancun" | "prague" | "osaka";

/** All values are 0x quantities or 0x data. */
export interface PayloadAttributes {
  readonly timestamp: string;
  readonly prevRandao: string;
  readonly suggestedFeeRecipient: string;
  /** From shanghai on. */
  readonly withdrawals?: readonly Withdrawal[];
  /** From cancun on. */
  readonly parentBeaconBlockRoot?: string;
}

interface Withdrawal {
  readonly index: string;
  readonly validatorIndex: string;
  readonly address: string;
  /** In gwei. */
  readonly amount: string;
}

export interface Payload {
  readonly executionPayload: {
    readonly blockHash: string;
    readonly parentHash: string;
    readonly blockNumber: string;
    readonly timestamp: string;
    readonly stateRoot: string;
    readonly transactions: readonly string[];
  };
  /** null before cancun. */
  readonly blobsBundle: object | null;
  /** From prague on. */
  readonly executionRequests?: readonly string[];
}

interface ForkChoice {
  readonly head: string;
  /** Default: none is said. */
  readonly safe?: string;
  readonly finalized?: string;
}

interface PayloadStatus {
  readonly status: "VALID" | "INVALID" | "SYNCING" | "ACCEPTED";
  readonly validationError?: string | null;
}

/** Versions of forkchoiceUpdated, getPayload and newPayload. */
const VERSIONS: Readonly<Record<EngineFork, readonly [choice: number, get: number, take: number]>> = {
  paris: [2, 2, 2],
  shanghai: [2, 2, 2],
  cancun: [3, 3, 3],
  prague: [3, 4, 4],
  osaka: [3, 5, 4],
};
const BLOB_TRANSACTION = 3;
/** Their position among its fields. */
const BLOB_HASHES = 10;
const NO_HASH = `0x${"00".repeat(32)}`;

export class EngineApi {
  /** @param secret - 32 bytes, which the node has too */
  constructor(
    private readonly url: string,
    private readonly secret: Uint8Array,
  ) {}

  /**
   * Chooses the head, and with `attributes` starts a block on top of it.
   *
   * @returns the id of the block under way, if there are attributes
   * @throws Error if the node refuses, or does not have the head
   */
  async choose(
    choice: ForkChoice,
    fork: EngineFork,
    attributes?: PayloadAttributes,
  ): Promise<string | undefined> {
    const {status, id} = await this.offer(choice, fork, attributes);
    if (status.status !== "VALID")
      throw new Error(`the node says of the head ${choice.head}: ${describe(status)}`);
    return id;
  }

  /** As `choose`, whatever the node says: SYNCING if it lacks blocks. */
  async offer(
    {head, safe = NO_HASH, finalized = NO_HASH}: ForkChoice,
    fork: EngineFork,
    attributes?: PayloadAttributes,
  ): Promise<{readonly status: PayloadStatus; readonly id: string | undefined}> {
    const state = {headBlockHash: head, safeBlockHash: safe, finalizedBlockHash: finalized};
    const {payloadStatus, payloadId} = await this.request<{
      readonly payloadStatus: PayloadStatus;
      readonly payloadId: string | null;
    }>(`engine_forkchoiceUpdatedV${VERSIONS[fork][0]}`, state, attributes ?? null);
    return {status: payloadStatus, id: payloadId ?? undefined};
  }

  /** @returns the block under way, which ends with this */
  getPayload(id: string, fork: EngineFork): Promise<Payload> {
    return this.request(`engine_getPayloadV${VERSIONS[fork][1]}`, id);
  }

  /**
   * Hands a block over.
   *
   * @param attributes - with which it was made
   * @throws Error if the node finds it invalid
   */
  async give(
    payload: Payload,
    attributes: PayloadAttributes,
    fork: EngineFork,
  ): Promise<PayloadStatus["status"]> {
    const {executionPayload, executionRequests = []} = payload;
    const version = VERSIONS[fork][2];
    // geth names the fields of later forks too, as null. reth refuses them.
    const fields = Object.entries(executionPayload).filter(([, value]) => value !== null);
    const params: unknown[] = [Object.fromEntries(fields)];
    if (version >= 3) params.push(readBlobHashes(payload), attributes.parentBeaconBlockRoot);
    if (version >= 4) params.push(executionRequests);
    const status = await this.request<PayloadStatus>(`engine_newPayloadV${version}`, ...params);
    if (status.status === "INVALID")
      throw new Error(`the node says of block ${Number(executionPayload.blockNumber)}: ${describe(status)}`);
    return status.status;
  }

  private async request<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
    const response = await fetch(this.url, {
      method: "POST",
      headers: {"content-type": "application/json", authorization: `Bearer ${this.makeToken()}`},
      body: JSON.stringify({jsonrpc: "2.0", id: 1, method, params}),
    });
    if (!response.ok) throw new Error(`${method}: HTTP ${response.status}: ${await response.text()}`);
    const {result, error} = (await response.json()) as RpcAnswer;
    if (error !== undefined) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result as Result;
  }

  /** A JSON web token of now, signed by HS256 (RFC 7519). */
  private makeToken(): string {
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
    const text = `${encode({alg: "HS256", typ: "JWT"})}.${encode({iat: Math.floor(Date.now() / 1000)})}`;
    return `${text}.${createHmac("sha256", this.secret).update(text).digest("base64url")}`;
  }
}

function describe({status, validationError}: PayloadStatus): string {
  return validationError ? `${status}, ${validationError}` : status;
}

/** Those of all blobs of a block's transactions (EIP-4844). */
function readBlobHashes({executionPayload}: Payload): string[] {
  return executionPayload.transactions
    .map(text => Buffer.from(text.slice(2), "hex"))
    .filter(([type]) => type === BLOB_TRANSACTION)
    .flatMap(bytes => (RLP.decode(bytes.subarray(1)) as Uint8Array[][])[BLOB_HASHES] as Uint8Array[])
    .map(toHex);
}
