/** The roots that the caller trusts. Everything that is proved is proved against one of them. */
import {decodeHex, encodeHex} from "../bytes/hex.ts";
import type {HashSuite} from "../hash/hashSuites.ts";
import {orAborted} from "../rpc/abortable.ts";

/** 32 bytes, or `0x` and 64 digits. */
export type Root = Uint8Array | string;

/** @returns the state root of a block. Throws if there is none to trust */
export type RootOfBlock = (block: bigint) => Root | Promise<Root>;

/** One root for all answers, or how to find the root of a block. {@link layer1Root} is such a function. */
export type TrustedRoot = Root | RootOfBlock;

export class TrustedRoots {
  private readonly suite: HashSuite;
  private readonly trusted: TrustedRoot;
  /** The roots that are being looked for: several answers for one block ask once. */
  private readonly asked = new Map<bigint, Promise<Uint8Array>>();

  constructor(suite: HashSuite, trusted: TrustedRoot) {
    this.suite = suite;
    this.trusted = trusted;
    if (typeof trusted !== "function") readRoot(suite, trusted);
  }

  /** @returns 32 bytes. @throws what the caller's function throws; TypeError if it gives no root; the signal's reason */
  of(block: bigint, signal: AbortSignal | undefined): Promise<Uint8Array> {
    let root = this.asked.get(block);
    if (root === undefined) {
      root = this.find(block).finally(() => this.asked.delete(block));
      this.asked.set(block, root);
    }
    return orAborted(root, signal);
  }

  private async find(block: bigint): Promise<Uint8Array> {
    const {trusted} = this;
    return readRoot(this.suite, typeof trusted === "function" ? await trusted(block) : trusted);
  }
}

/** @throws TypeError */
function readRoot(suite: HashSuite, root: Root): Uint8Array {
  const text = typeof root === "string" ? root.toLowerCase() : encodeHex(root);
  const bytes = /^0x[0-9a-f]{64}$/.test(text) ? decodeHex(text) : undefined;
  if (bytes !== undefined && suite.isDigest(bytes)) return bytes;
  throw new TypeError(`a trusted root is ${shorten(text)}, expected 32 bytes: a digest of ${suite.name}`);
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}
