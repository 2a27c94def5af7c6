/**
 * Nodes as JSON text, by WebAssembly SIMD (wasm/quoteNodes.ts): the 42 nodes of a proof in 0.3 us, where a loop in
 * JavaScript takes 6.
 *
 *   its memory, 256 KiB:   nodes, put there by the caller | text, written by `quote`
 */
import {loadWasm} from "../../storage/hash/webAssembly.ts";
import type {Exports} from "./quoteNodes.wasm.d.ts";

/** Nodes are read by whole vectors. */
export const VECTOR_BYTES = 16;

/** Bytes that each node needs besides its digits: `,"0x` and `"`. */
export const QUOTE_BYTES = 5;

export class NodeText {
  /** Nodes must lie here when they are quoted: `capacity` bytes. */
  readonly nodes: Uint8Array;
  readonly text: Uint8Array;
  private readonly wasm: Exports;

  /** @param capacity - bytes of nodes; their text needs more than twice as much of the 256 KiB */
  constructor(capacity: number) {
    this.wasm = loadWasm(new URL("./quoteNodes.wasm", import.meta.url));
    const {buffer} = this.wasm.memory;
    this.nodes = new Uint8Array(buffer, 0, capacity);
    this.text = new Uint8Array(buffer, capacity);
  }

  /**
   * Writes `,"0x<digits>"` for each of `count` nodes that lie back to back from `from` on in `nodes`.
   * @param at - offset in `text`, where count * (2 * nodeBytes + QUOTE_BYTES) bytes are free, and 32 more
   * @returns the offset after them. @throws WebAssembly.RuntimeError if the text does not fit the memory
   */
  quote(from: number, count: number, nodeBytes: number, at: number): number {
    const start = this.nodes.length;
    return this.wasm.quoteNodes(from, count, nodeBytes, start + at) - start;
  }
}
