/** Answers each call of a PackedJob with its whole JSON-RPC response, as text. */

import type {BlockRecord} from "../../storage/block/blockRecord.ts";
import {FinalizedBlocks} from "../../storage/block/finalizedBlocks.ts";
import {encodeHeader} from "../../storage/block/headerRlp.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {ACCOUNT_VALUE_BYTES, WORD_BYTES} from "../../storage/hash/suite.ts";
import {toHex} from "../../storage/hex.ts";
import {type Account, decodeStoredAccount, encodeAccountValueInto} from "../../storage/tree/account.ts";
import {writeWordInto} from "../../storage/tree/shortNumber.ts";
import {accountTree, storageTree, type Tree} from "../../storage/tree/tree.ts";
import {ownTreeRoot} from "../../storage/tree/treeRoot.ts";
import {type Answers, openResult, RESPONSE_END, SEPARATOR} from "../messages/answers.ts";
import {trieOrThrow} from "../messages/blockTrie.ts";
import {readChangesCall} from "../messages/changesCall.ts";
import {type Failure, failureAt} from "../messages/failure.ts";
import {readFinalizations} from "../messages/finalizationsCall.ts";
import type {PackedJob} from "../messages/jobMailbox.ts";
import {
  ADDRESS_AT,
  AS_BYTES,
  callEnd,
  KEYS_AT,
  listEntries,
  MAX_HEADER_BYTES,
  ProofForm,
  packedBytes,
  readAddress,
  readCallBlock,
  readCallForm,
  readKeyCount,
} from "../messages/packedCall.ts";
import type {ProofCounts} from "../messages/proofCounts.ts";
import {AnswerText} from "./answerText.ts";
import {ChangesProver} from "./changesProver.ts";
import {writeCodes} from "./codesText.ts";
import {createTrieRoots, EthProver} from "./ethProver.ts";
import {writeFinalizations} from "./finalizationsText.ts";
import {LeavesProver, type ProvedLeaves} from "./leavesProver.ts";
import {MultiProver} from "./multiProver.ts";
import {ProofText} from "./proofText.ts";
import {addWords, writeAnswer} from "./slotsAnswer.ts";
import {StateText} from "./stateText.ts";
import {TrieMultiProver} from "./trieMultiProver.ts";
import {NEVER_YIELDS, type YieldPoint} from "./yieldPoint.ts";

/** How many account trees of proved blocks are kept, 350 bytes each. Calls at old blocks use each more than once. */
const KEPT_TREES = 1 << 15;
const COMMA = 0x2c;
const NO_BYTES = new Uint8Array(0);
const PLAIN_END = `]}${RESPONSE_END}${SEPARATOR}`;
const WITH_BLOCK_END = `]}}${RESPONSE_END}${SEPARATOR}`;
const HEX_END = `"${RESPONSE_END}${SEPARATOR}`;

export class Prover {
  private madeProvers: ReturnType<typeof createProvers> | undefined;
  private readonly eth: EthProver;
  private readonly tries: TrieMultiProver;
  private readonly state: StateText;
  private readonly text = new AnswerText();
  /** Of the block asked for last: the calls of a batch mostly name one block. */
  private blockText = {block: -1, describe: describeRoot as (record: BlockRecord) => string, text: ""};
  private readonly value = new Uint8Array(ACCOUNT_VALUE_BYTES);
  private readonly slotValue = new Uint8Array(WORD_BYTES);
  private readonly trees: FinalizedBlocks<Tree>;
  private accounts = 0;
  private slots = 0;

  /** @param yieldPoint - of long calls */
  constructor(
    private readonly store: StateReader,
    private readonly yieldPoint: YieldPoint = NEVER_YIELDS,
  ) {
    if (store.hasTrees) this.madeProvers = createProvers(store, yieldPoint);
    const roots = createTrieRoots(store);
    this.eth = new EthProver(store, roots, yieldPoint);
    this.tries = new TrieMultiProver(store, roots, yieldPoint);
    const readTree = ({accounts}: BlockRecord): Tree => accountTree(store, ownTreeRoot(accounts));
    this.trees = new FinalizedBlocks(store, readTree, KEPT_TREES);
    this.state = new StateText(store, this.trees, roots, this.eth.path);
  }

  /** @param memory - for the text, if it is long enough. @param ends - of the answers, at least one per call */
  answer(job: PackedJob, memory?: Buffer, ends: Uint32Array = new Uint32Array(job.ids.length)): Answers {
    const calls = Buffer.from(job.calls.buffer, job.calls.byteOffset, job.calls.length);
    const failures: (Failure & {call: number})[] = [];
    this.text.clear();
    let at = 0;
    for (let call = 0; call < job.ids.length; call++) {
      this.yieldPoint.check();
      const end = callEnd(calls, at);
      const packed = calls.subarray(at, end);
      const start = this.text.size;
      try {
        this.answerCall(job.ids[call] as string, packed);
      } catch (error) {
        this.text.truncate(start);
        failures.push({call, ...failureAt(error, this.store, blocksOf(packed))});
      }
      ends[call] = this.text.size;
      at = end;
    }
    return {text: this.text.take(memory), ends, failures};
  }

  /** Counts the accounts and slots that were proved, and the pages that were read, since the last call. */
  takeCounts(): Parameters<ProofCounts["add"]>[0] {
    const {accounts, slots} = this;
    this.accounts = 0;
    this.slots = 0;
    return {accounts, slots, ...this.store.pages.takeReads()};
  }

  /** @throws StoreError NO_TREES */
  private get provers() {
    this.madeProvers ??= createProvers(this.store, this.yieldPoint);
    return this.madeProvers;
  }

  private answerCall(id: string, call: Buffer): void {
    const form = readCallForm(call, 0);
    if (form === ProofForm.FINALIZATIONS || form === ProofForm.CODES) {
      this.text.text(openResult(id));
      if (form === ProofForm.CODES) writeCodes(this.text, this.store, call, this.yieldPoint);
      else writeFinalizations(this.text, this.store, readFinalizations(call), this.yieldPoint);
      this.text.text(RESPONSE_END + SEPARATOR);
      return;
    }
    const block = readCallBlock(call, 0);
    switch (form & ~AS_BYTES) {
      case ProofForm.ETH:
      case ProofForm.ETH_AT:
        this.writeEth(id, block, call, form);
        break;
      case ProofForm.ETH_MULTI:
        this.writeEthMulti(id, block, call);
        break;
      case ProofForm.BALANCE:
      case ProofForm.NONCE:
      case ProofForm.CODE:
      case ProofForm.SLOT:
        this.text.text(openResult(id));
        this.state.write(this.text, call);
        this.text.text(RESPONSE_END + SEPARATOR);
        break;
      case ProofForm.SLOTS:
      case ProofForm.TRIE_SLOTS:
        this.writeSlots(form, block, call);
        break;
      case ProofForm.MULTI_HEX:
      case ProofForm.TRIE_MULTI_HEX:
      case ProofForm.LEAVES_HEX:
      case ProofForm.CHANGES_HEX:
        if ((form & AS_BYTES) === 0) this.writeHex(id, form, block, call);
        else {
          this.writeBytes(form, block, call);
          this.text.text(SEPARATOR);
        }
        break;
      default:
        this.writeProof(id, block, this.trees.at(block), call, form);
    }
  }

  private writeEth(id: string, block: number, call: Buffer, form: ProofForm): void {
    const {text} = this;
    const isAt = form === ProofForm.ETH_AT;
    text.text(openResult(id) + (isAt ? this.openBlock(block, describeHeader) : ""));
    this.eth.path.begin();
    this.eth.write(text, block, call);
    this.eth.path.end(block);
    text.text((isAt ? "}" : "") + RESPONSE_END + SEPARATOR);
    this.accounts++;
    this.slots += readKeyCount(call, 0);
  }

  private writeEthMulti(id: string, block: number, call: Buffer): void {
    const {text} = this;
    text.text(`${openResult(id)}[`);
    this.eth.path.begin();
    for (const entry of listEntries(call)) {
      this.yieldPoint.check();
      if (entry > 0) text.text(",");
      const end = entry + packedBytes(readKeyCount(call, entry));
      this.eth.write(text, block, call.subarray(entry, end), true);
    }
    this.eth.path.end(block);
    text.text(`]${RESPONSE_END}${SEPARATOR}`);
    this.countEntries(call);
  }

  /** An answer of CCIP-read, which is not a JSON-RPC response. */
  private writeSlots(form: ProofForm, block: number, call: Buffer): void {
    const {text, state} = this;
    const isTrie = form === ProofForm.TRIE_SLOTS;
    const multiForm = isTrie ? ProofForm.TRIE_MULTI_HEX : ProofForm.MULTI_HEX;
    const {readSlot} = state.open(block, readAddress(call));
    const {call: multiCall, words} = addWords(call, multiForm, readSlot);
    state.close(block);
    const header = isTrie ? readShortHeader(this.store.blockOrThrow(block)) : undefined;
    text.text('{"data":"0x');
    const start = text.size;
    writeAnswer(text, block, words, header ?? NO_BYTES, () => this.writeBytes(multiForm, block, multiCall));
    text.hexFrom(start, this.yieldPoint);
    text.text(`"}${SEPARATOR}`);
  }

  private writeHex(id: string, form: ProofForm, block: number, call: Buffer): void {
    const {text} = this;
    text.text(`${openResult(id)}"0x`);
    const start = text.size;
    this.writeBytes(form, block, call);
    text.hexFrom(start, this.yieldPoint);
    text.text(HEX_END);
  }

  private writeBytes(form: ProofForm, block: number, call: Buffer): void {
    switch (form & ~AS_BYTES) {
      case ProofForm.MULTI_HEX:
        this.provers.multi.write(this.text, this.trees.at(block), call);
        this.countEntries(call);
        break;
      case ProofForm.TRIE_MULTI_HEX:
        this.tries.write(this.text, block, call);
        this.countEntries(call);
        break;
      case ProofForm.LEAVES_HEX:
        this.count(this.provers.leaves.write(this.text, this.trees.at(block), call));
        break;
      default: {
        const {toBlock} = readChangesCall(call);
        const [old, young] = [this.trees.at(block), this.trees.at(toBlock)];
        this.count(this.provers.changes.write(this.text, old, young, call));
      }
    }
  }

  private count({accounts, slots}: ProvedLeaves): void {
    this.accounts += accounts;
    this.slots += slots;
  }

  private countEntries(call: Buffer): void {
    for (const entry of listEntries(call)) this.count({accounts: 1, slots: readKeyCount(call, entry)});
  }

  private writeProof(id: string, block: number, accounts: Tree, call: Buffer, form: ProofForm): void {
    const {text, store} = this;
    const {proofs} = this.provers;
    const keyCount = readKeyCount(call, 0);
    const hasBlock = form === ProofForm.WITH_BLOCK;
    const address = call.subarray(ADDRESS_AT, ADDRESS_AT + 20);
    const open = hasBlock ? this.openBlock(block, describeRoot) : "";
    text.text(`${openResult(id)}${open}{"accountProof":{"key":`);
    text.reserve(256);
    text.quotedHex(address, 0, address.length);
    text.byte(COMMA);
    const hKey = store.suite.hashAddress(address);
    let account: Account | undefined;
    const stored = proofs.write(text, accounts, hKey, (out, leaf) => {
      account = decodeStoredAccount(leaf);
      encodeAccountValueInto(this.value, 0, account, store.empty);
      out.quotedHex(this.value, 0, ACCOUNT_VALUE_BYTES);
    });
    const root = stored === undefined ? undefined : account?.storage?.tree;
    const slotCount = root === undefined && form === ProofForm.NO_EMPTY_STORAGE ? 0 : keyCount;
    const slots = root === undefined || slotCount === 0 ? undefined : storageTree(store, root, hKey);
    text.ascii('},"storageProofs":[');
    for (let i = 0, at = KEYS_AT; i < slotCount; i++, at += WORD_BYTES) {
      this.yieldPoint.check();
      const slot = call.subarray(at, at + WORD_BYTES);
      text.reserve(256);
      text.ascii(i === 0 ? '{"key":' : ',{"key":');
      text.quotedHex(slot, 0, WORD_BYTES);
      text.byte(COMMA);
      proofs.write(text, slots, store.suite.hashSlot(slot), (out, leaf) => {
        writeWordInto(this.slotValue, 0, leaf);
        out.quotedHex(this.slotValue, 0, WORD_BYTES);
      });
      text.reserve(256);
      text.ascii("}");
    }
    text.reserve(256);
    text.ascii(hasBlock ? WITH_BLOCK_END : PLAIN_END);
    this.accounts++;
    this.slots += slotCount;
  }

  /** `{"block":{...},"proof":`. @param block - finalized, so its text never changes. @param describe - its fields */
  private openBlock(block: number, describe: (record: BlockRecord) => string): string {
    if (block !== this.blockText.block || describe !== this.blockText.describe)
      this.blockText = {block, describe, text: describe(this.store.blockOrThrow(block))};
    const mark = block >= this.store.readUnverified() ? '"unverified":true,' : "";
    return `{${mark}${this.blockText.text},"proof":`;
  }
}

/** Those of sparse trees. @throws StoreError NO_TREES */
function createProvers(store: StateReader, yieldPoint: YieldPoint) {
  const multi = new MultiProver(store, yieldPoint);
  return {
    proofs: new ProofText(store.suite, store.empty),
    multi,
    leaves: new LeavesProver(store, multi, undefined, yieldPoint),
    changes: new ChangesProver(store, multi, undefined, yieldPoint),
  };
}

/** As chain_getStateRoot names a block (server/methods/ready/getStateRoot.ts). */
function describeRoot({header, stateRoot}: Pick<BlockRecord, "header" | "stateRoot">): string {
  const [hash, root] = [toHex(header.hash), toHex(stateRoot)];
  return `"block":{"number":"0x${header.number.toString(16)}","hash":"${hash}","stateRoot":"${root}","finalized":true}`;
}

/** The same with the root of Ethereum's trie, and the header that names it. */
function describeHeader(record: BlockRecord): string {
  const {header} = record;
  const rlp = readShortHeader(record);
  const text = rlp === undefined ? "null" : `"${toHex(rlp)}"`;
  return `${describeRoot({header, stateRoot: trieOrThrow(record).root})},"headerRlp":${text}`;
}

/** @returns undefined if a field of the header is not known, or it is too long */
function readShortHeader({header}: BlockRecord): Uint8Array | undefined {
  const rlp = encodeHeader(header);
  return rlp !== undefined && rlp.length <= MAX_HEADER_BYTES ? rlp : undefined;
}

/** The blocks whose state a call reads, which pruning could have removed meanwhile. */
function blocksOf(call: Buffer): readonly number[] {
  const block = readCallBlock(call, 0);
  switch (readCallForm(call, 0) & ~AS_BYTES) {
    case ProofForm.FINALIZATIONS:
    case ProofForm.CODES:
      return [];
    case ProofForm.CHANGES_HEX:
      return [block, readChangesCall(call).toBlock];
    default:
      return [block];
  }
}
