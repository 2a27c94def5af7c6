/**
 * What executing a call reads, as the witness of proof_call: the state that the EVM runs on notes the trie nodes on the way
 * to each account and slot, the codes, and the oldest block whose hash is read.
 */
import {ChainState} from "../../../evm/execution/chainState.ts";
import type {StateSource} from "../../../evm/interpreter/stateSource.ts";
import type {BlockRecord} from "../../../storage/block/blockRecord.ts";
import {encodeHeader} from "../../../storage/block/headerRlp.ts";
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {toHex} from "../../../storage/hex.ts";
import type {TrieReader, TrieRoot} from "../../../storage/trie/trie.ts";
import {MAX_PATH_BYTES, TriePath} from "../../../storage/trie/triePath.ts";
import {TrieState} from "../../../storage/trie/trieState.ts";
import {trieOrThrow} from "../../messages/blockTrie.ts";
import {CallFailure} from "../../messages/failure.ts";
import {readBlockHash} from "./blockHash.ts";

export class CallWitness {
  readonly state: StateSource;
  /** 0x text, each once. */
  private readonly nodes = new Set<string>();
  private readonly codes = new Set<string>();
  private bytes = 0;
  /** The oldest block whose header the witness has. */
  private oldest: number;

  /** @param maxBytes - of nodes and codes. @throws CallFailure NOT_AVAILABLE without the block's trie or header */
  constructor(
    private readonly store: StateReader,
    private readonly block: BlockRecord,
    private readonly maxBytes: number,
  ) {
    this.oldest = block.header.number;
    const trie = new NotedTrie(store.tries, trieOrThrow(block), node => this.note(this.nodes, node));
    this.headerText(block);
    const findCode = (hash: Uint8Array) => {
      const code = store.findCode(hash);
      if (code !== undefined) this.note(this.codes, code);
      return code;
    };
    this.state = new ChainState({findCode}, trie, number => {
      this.oldest = Math.min(this.oldest, number);
      return readBlockHash(store, number);
    });
  }

  /** @returns JSON text. @throws CallFailure NOT_AVAILABLE if the store lacks a header */
  encode(): string {
    const headers: string[] = [];
    for (let number = this.oldest; number < this.block.header.number; number++)
      headers.push(this.headerText(this.store.readHeaderRecord(number), number));
    headers.push(this.headerText(this.block));
    return JSON.stringify({state: [...this.nodes], codes: [...this.codes], headers});
  }

  /** @throws CallFailure LIMIT_EXCEEDED */
  private note(known: Set<string>, bytes: Uint8Array): void {
    const text = toHex(bytes);
    if (known.has(text)) return;
    known.add(text);
    this.bytes += bytes.length;
    const {maxBytes: limit, bytes: got} = this;
    if (got <= limit) return;
    const detail = `the call reads more state than its witness may have: expected at most ${limit} bytes of nodes and codes, got ${got}`;
    throw new CallFailure({failure: "LIMIT_EXCEEDED", detail, limit, got});
  }

  private headerText(block: BlockRecord | undefined, number = this.block.header.number): string {
    const header = block && encodeHeader(block.header);
    if (header !== undefined) return toHex(header);
    const detail = `proof_call is not available: the store does not have the whole header of block ${number}, which its witness needs`;
    throw new CallFailure({failure: "NOT_AVAILABLE", detail});
  }
}

/** Calls `note` for each node that is read. */
class NotedTrie extends TrieState {
  private readonly path: TriePath;

  constructor(
    reader: TrieReader,
    base: TrieRoot,
    private readonly note: (node: Uint8Array) => void,
  ) {
    super(reader, base);
    this.path = new TriePath(reader, new Uint8Array(MAX_PATH_BYTES));
  }

  protected override findStored(path: Uint8Array): Uint8Array | undefined {
    return this.noted(this.path.open(this.base.page, path, "accounts"));
  }

  protected override findSlot({page, root}: TrieRoot, path: Uint8Array): Uint8Array | undefined {
    return this.noted(this.path.open(page, path, "slots", false, root));
  }

  private noted(value: Uint8Array | undefined): Uint8Array | undefined {
    const {bytes, count, ends} = this.path;
    for (let i = 0, start = 0; i < count; i++) {
      const end = ends[i] as number;
      this.note(bytes.subarray(start, end));
      start = end;
    }
    return value;
  }
}
