/**
 * Proofs as JSON text (docs/proofs.md, section 5), written from the tree's pages into the answer without objects in
 * between.
 *
 *   "proofRelatedNodes": [root node, sibling pre-images from height 39 down to 1, sibling leaf opening, leaf opening]
 *
 * The first nodes are the same in all proofs of a tree's version (TreeHeadText).
 */

import {type HashSuite, TREE_HEIGHT, WORD_BYTES} from "../../storage/hash/suite.ts";
import {toHex} from "../../storage/hex.ts";
import type {EmptyTree} from "../../storage/tree/emptyTree.ts";
import {HEAD_INDEX, TAIL_INDEX, ZERO_WORD} from "../../storage/tree/emptyTree.ts";
import {LeafPath, PRE_IMAGE_BYTES, pathBytes} from "../../storage/tree/leafPath.ts";
import type {Tree} from "../../storage/tree/tree.ts";
import type {AnswerText} from "./answerText.ts";
import {NodeText, VECTOR_BYTES} from "./nodeText.ts";
import {emptySiblingsText, PRE_IMAGE_TEXT_BYTES, TreeHeadText} from "./treeHeadText.ts";

const NODES = Buffer.from(',"proofRelatedNodes":[', "latin1");
const CLOSE_BRACKET = 0x5d;
const CLOSE_BRACE = 0x7d;
const EMPTY_LEAF_TEXT = Buffer.from(`,"${toHex(ZERO_WORD)}"`, "latin1");
/** Field names, leaf indexes, the key, and a value of up to ACCOUNT_VALUE_BYTES. */
const FRAME_TEXT_BYTES = 1024;

/** Upper bound of the text of one proof, of existence or absence (two paths), in bytes. */
export function maxProofTextBytes(suite: HashSuite): number {
  const openings = 2 * (2 * suite.leafOpeningBytes + suite.rootNodeBytes);
  return 2 * (FRAME_TEXT_BYTES + TREE_HEIGHT * PRE_IMAGE_TEXT_BYTES + openings);
}

/** Writes a leaf's raw value (an account's words, a slot's word); head and tail have none. */
type WriteValue = (text: AnswerText, storedValue: Uint8Array) => void;

export class ProofText {
  private readonly nodes: NodeText;
  private readonly path: LeafPath;
  private readonly head: TreeHeadText;
  /** leftLeafIndex .. rightProof of the absence proof in a new tree. */
  private readonly newTreeText: Uint8Array;
  private readonly maxBytes: number;

  /** @throws RangeError if the suite's leaf openings are not whole vectors */
  constructor(
    private readonly suite: HashSuite,
    empty: EmptyTree,
  ) {
    const {leafOpeningBytes} = suite;
    if (leafOpeningBytes % VECTOR_BYTES !== 0)
      throw new RangeError(`leaf openings of ${leafOpeningBytes} bytes: not a multiple of ${VECTOR_BYTES}`);
    this.nodes = new NodeText(pathBytes(suite));
    this.path = new LeafPath(suite, empty, this.nodes.nodes);
    this.maxBytes = maxProofTextBytes(suite);
    this.head = new TreeHeadText(suite, empty);
    this.newTreeText = Buffer.from(newTreeAbsence(suite, empty), "latin1");
  }

  /**
   * Appends `"leafIndex":..,"proof":..` or `"leftLeafIndex":.. ,"rightProof":..`, after which the object can close.
   *
   * @param tree - undefined: a new one
   * @returns the key's stored value, a view that the next proof invalidates, or undefined if the key is absent
   * @throws StoreError RECORD_MISSING, RECORD_DAMAGED
   */
  write(
    text: AnswerText,
    tree: Tree | undefined,
    hKey: Uint8Array,
    writeValue: WriteValue,
  ): Uint8Array | undefined {
    text.reserve(this.maxBytes);
    if (tree === undefined || tree.isNew) {
      text.raw(this.newTreeText);
      return undefined;
    }
    const {path} = this;
    const position = tree.open(path, hKey);
    if (position.present) {
      text.ascii(`"leafIndex":${position.leafIndex},"proof":{"value":`);
      this.writePath(text, tree, position.leafIndex, writeValue);
      return path.value;
    }
    const {leftLeafIndex, rightLeafIndex} = position;
    tree.openAt(path, leftLeafIndex);
    text.ascii(`"leftLeafIndex":${leftLeafIndex},"leftProof":{"value":`);
    this.writePath(text, tree, leftLeafIndex, writeValue);
    tree.openAt(path, rightLeafIndex);
    text.ascii(`,"rightLeafIndex":${rightLeafIndex},"rightProof":{"value":`);
    this.writePath(text, tree, rightLeafIndex, writeValue);
    return undefined;
  }

  /** The value, the nodes and the end of the object, of the leaf that `path` is open for. */
  private writePath(text: AnswerText, tree: Tree, leafIndex: number, writeValue: WriteValue): void {
    const {nodes, path, suite} = this;
    if (leafIndex === HEAD_INDEX || leafIndex === TAIL_INDEX) text.quotedHex(ZERO_WORD, 0, WORD_BYTES);
    else writeValue(text, path.value);
    text.raw(NODES);
    text.raw(this.head.of(tree.root, path.emptyFrom));
    let end = nodes.quote(path.preImages.byteOffset, path.emptyFrom - 1, PRE_IMAGE_BYTES, 0);
    if (path.hasSibling) end = nodes.quote(path.siblingOpening.byteOffset, 1, suite.leafOpeningBytes, end);
    else {
      nodes.text.set(EMPTY_LEAF_TEXT, end);
      end += EMPTY_LEAF_TEXT.length;
    }
    end = nodes.quote(path.opening.byteOffset, 1, suite.leafOpeningBytes, end);
    text.raw(nodes.text.subarray(0, end));
    text.byte(CLOSE_BRACKET);
    text.byte(CLOSE_BRACE);
  }
}

/** Shows that nothing is between head and tail of a new tree. */
function newTreeAbsence(suite: HashSuite, empty: EmptyTree): string {
  const rootNode = new Uint8Array(suite.rootNodeBytes);
  suite.encodeRootNodeInto(rootNode, 0, TAIL_INDEX + 1, empty.subRoot);
  const head = new Uint8Array(suite.leafOpeningBytes);
  suite.encodeLeafOpeningInto(head, 0, HEAD_INDEX, TAIL_INDEX, ZERO_WORD, ZERO_WORD);
  const tail = new Uint8Array(suite.leafOpeningBytes);
  suite.encodeLeafOpeningInto(tail, 0, HEAD_INDEX, TAIL_INDEX, suite.tailHKey, ZERO_WORD);
  const siblings = emptySiblingsText(empty);
  const proof = (sibling: Uint8Array, leaf: Uint8Array): string =>
    `{"value":"${toHex(ZERO_WORD)}","proofRelatedNodes":["${toHex(rootNode)}"${siblings},"${toHex(sibling)}","${toHex(leaf)}"]}`;
  return `"leftLeafIndex":${HEAD_INDEX},"leftProof":${proof(tail, head)},"rightLeafIndex":${TAIL_INDEX},"rightProof":${proof(head, tail)}`;
}
