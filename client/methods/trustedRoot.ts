/** The roots that the caller trusts. Every proof is verified against one of them. */
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import {shown} from "../bytes/values.ts";
import type {HashSuite} from "../hash/hashSuites.ts";
import {orAborted, within} from "../rpc/abortable.ts";
import {RpcError} from "../rpc/rpcError.ts";
import {MAX_MS, requireWhole} from "./connection.ts";

/** 32 bytes, or `0x` and 64 digits. */
export type Root = Uint8Array | string;

/** @returns the state root of a block; undefined: the call fails with ROOT_UNKNOWN. It may throw. */
export type RootOfBlock = (block: bigint) => Root | undefined | Promise<Root | undefined>;

/** One root for all answers, or how to find the root of a block. {@link layer1Root} is such a function. */
export type TrustedRoot = Root | RootOfBlock;

/** The name of a hash suite, and which bytes can be its digests. */
type SuiteName = Pick<HashSuite, "isDigest"> & {readonly name: string};

/** Ethereum's own state trie, whose root is in the header of a block. */
export const keccakSuite = {
  name: "keccak",
  isDigest: bytes => bytes.length === 32,
} as const satisfies SuiteName;

/** What proofs are verified against. */
export interface Trust<Suite extends SuiteName = HashSuite> {
  readonly verify?: true | undefined;
  /** The hash suite of the chain. It is never taken from the server. */
  readonly suite: Suite;
  readonly trustedRoot: TrustedRoot;
  /** Timeout of a call of `trustedRoot`, if that is a function. Default: 60 000. */
  readonly rootTimeoutMs?: number | undefined;
}

/** Nothing is verified: for a server of your own, or to verify later. */
export interface NoTrust {
  readonly verify: false;
}

const DEFAULT_TIMEOUT_MS = 60_000;

export class TrustedRoots<Suite extends SuiteName = HashSuite> {
  readonly suite: Suite;
  private readonly trusted: TrustedRoot;
  private readonly timeoutMs: number;
  /** Pending look-ups: several answers for one block look its root up once. */
  private readonly asked = new Map<bigint, Promise<Uint8Array>>();

  /** @throws TypeError for a missing option, as callers in JavaScript may pass, or an invalid root */
  constructor({suite, trustedRoot, rootTimeoutMs = DEFAULT_TIMEOUT_MS}: Partial<Trust<Suite>>) {
    if (suite === undefined || trustedRoot === undefined)
      throw new TypeError("expected the options suite and trustedRoot, or verify: false");
    this.suite = suite;
    this.trusted = trustedRoot;
    this.timeoutMs = requireWhole("rootTimeoutMs", rootTimeoutMs, 1, MAX_MS);
    if (typeof trustedRoot !== "function") readRoot(suite, trustedRoot);
  }

  /**
   * @throws what the caller's function throws; RpcError TIMEOUT if it takes too long, ROOT_UNKNOWN if it gives
   *   undefined; TypeError for any other invalid root; the signal's reason
   */
  of(block: bigint, signal: AbortSignal | undefined): Promise<Uint8Array> {
    let root = this.asked.get(block);
    if (root === undefined) {
      root = this.find(block).finally(() => this.asked.delete(block));
      this.asked.set(block, root);
    }
    return orAborted(root, signal);
  }

  private async find(block: bigint): Promise<Uint8Array> {
    const {trusted, suite} = this;
    if (typeof trusted !== "function") return readRoot(suite, trusted);
    const root = await within(this.timeoutMs, `the trusted root of block ${block}`, undefined, async () =>
      trusted(block),
    );
    // A function in JavaScript may also return null.
    if (root === undefined || root === null)
      throw new RpcError("ROOT_UNKNOWN", `expected the trusted root of block ${block}, got ${root}`);
    return readRoot(suite, root);
  }
}

function readRoot(suite: SuiteName, root: Root): Uint8Array {
  const text = root instanceof Uint8Array ? encodeHex(root) : String(root).toLowerCase();
  const bytes = /^0x[0-9a-f]{64}$/.test(text) ? decodeHex(text) : undefined;
  if (bytes !== undefined && suite.isDigest(bytes)) return bytes;
  throw new TypeError(`expected a trusted root of 32 bytes, a digest of ${suite.name}, got ${shown(text)}`);
}
