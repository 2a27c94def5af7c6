/** Makes forgeries of answers of chain_getLeaves, by class: of each field, of the bytes, and those below. None may be accepted. */
import {concatBytes, isEqual} from "../../../client/bytes/byteString.ts";
import {type HashSuite, newTreeRoot} from "../../../client/hash/hashSuites.ts";
import type {LeavesRequest} from "../../../client/leaves/leafRange.ts";
import {NO_CODE_KECCAK, noCodeHash} from "../../../client/proof/account.ts";
import {CONTRACT, CompactCases, OTHER_LINES} from "./compactCases.ts";
import {BYTE_FORGERIES, forgeField, isIn, namesOf, type Pick, RANGE} from "./forgeries.ts";
import {joinRange, type KeyOf, leafRecord, type RangeParts, rangeParts, widthOf} from "./rangeBytes.ts";
import type {ReferenceTree} from "./referenceTree.ts";

/** An answer, what was asked for, and the root that the verifier trusts. */
interface RangeCase {
  readonly root: Uint8Array;
  readonly request: LeavesRequest;
  readonly bytes: Uint8Array;
}

type Range = NonNullable<RangeParts["range"]>;

interface Valid {
  readonly suite: HashSuite;
  readonly parts: RangeParts;
  readonly range: Range;
  readonly request: LeavesRequest;
  readonly tree: ReferenceTree;
  readonly isAccounts: boolean;
  readonly keyOf: KeyOf;
  /** The answer to another request, or of another block or chain, with everything that is true there. */
  other(change: {block?: number; tree?: string; from?: number; isOtherChain?: boolean}): RangeParts;
}

/** @returns bytes; undefined: there is no such forgery */
type Forge = (valid: Valid, pick: Pick) => Uint8Array | undefined;

const BLOCK = {number: 1, hash: `0x${"b1".repeat(32)}`};
/** Behind the number and the hash of the block, which `verifyLeaves` does not compare. */
const UNPROVEN_TO = 39;

export class RangeCases {
  private readonly cases: CompactCases;
  private readonly otherCases: CompactCases;

  constructor(
    readonly suite: HashSuite,
    readonly keyOf: KeyOf,
  ) {
    this.cases = new CompactCases(suite);
    this.otherCases = new CompactCases(suite, OTHER_LINES);
  }

  treeOf(tree: string): ReferenceTree {
    const {state} = this.cases;
    if (tree === "accounts") return state.accountTree(BLOCK.number);
    return state.readAccount(BLOCK.number, tree)?.storage as ReferenceTree;
  }

  prove(request: LeavesRequest): RangeCase {
    return {root: this.root, request, bytes: joinRange(this.partsOf(request))};
  }

  get root(): Uint8Array {
    return this.cases.state.stateRoot(BLOCK.number);
  }

  /** The classes of forgeries of any of these answers. */
  namesOf(requests: readonly LeavesRequest[]): readonly string[] {
    const ranges = requests.map(request => this.partsOf(request).range);
    return [...Object.keys(FORGERIES), ...Object.keys(BYTE_FORGERIES), ...namesOf(RANGE, ranges)];
  }

  forge(name: string, request: LeavesRequest, pick: Pick): RangeCase | undefined {
    const {suite, keyOf} = this;
    const parts = this.partsOf(request);
    const valid: Valid = {
      ...{suite, parts, request, keyOf, range: parts.range as Range},
      tree: this.treeOf(request.tree),
      isAccounts: request.tree === "accounts",
      other: ({block = BLOCK.number, tree = request.tree, from = request.from, isOtherChain = false}) =>
        this.partsOf({tree, from, count: request.count}, block, isOtherChain),
    };
    const whole = joinRange(parts);
    const field = () => forgeField(parts.range, RANGE, name, pick);
    const bytes = isIn(BYTE_FORGERIES, name)
      ? BYTE_FORGERIES[name](whole, pick, at => at > 0 && at < UNPROVEN_TO)
      : isIn(FORGERIES, name)
        ? FORGERIES[name](valid, pick)
        : joinRange({...parts, range: field() ?? parts.range});
    if (bytes === undefined || isEqual(bytes, whole)) return undefined;
    return {root: this.root, request, bytes};
  }

  private partsOf(
    {tree, from, count}: LeavesRequest,
    number = BLOCK.number,
    isOtherChain = false,
  ): RangeParts {
    const {state} = isOtherChain ? this.otherCases : this.cases;
    const address = tree === "accounts" ? undefined : tree;
    return rangeParts(state, {...BLOCK, number}, address, from, count, this.keyOf);
  }
}

function join({parts}: Valid, range: Partial<Range>): Uint8Array {
  return joinRange({...parts, range: {...(parts.range as Range), ...range}});
}

/** Forms of a record that say the same in another way. */
function otherForms(
  {suite, isAccounts}: Valid,
  record: Uint8Array,
  keyBytes: number,
  linkBytes: number,
): Uint8Array[] {
  const flags = record[0] as number;
  const afterLinks = 1 + keyBytes + 2 * linkBytes;
  const head = (bits: number) => concatBytes(Uint8Array.of(bits), record.subarray(1, afterLinks));
  const rest = record.subarray(afterLinks);
  const longer = concatBytes(head(flags + 1), Uint8Array.of(0), rest);
  if (!isAccounts) {
    return [longer, concatBytes(head(flags | 0x80), rest), concatBytes(head(flags | 0x40), rest)];
  }
  const nonceBytes = flags & 0x0f;
  const [nonce, balanceAndMore] = [rest.subarray(0, nonceBytes), rest.subarray(nonceBytes)];
  const balanceBytes = balanceAndMore[0] as number;
  const noCode = concatBytes(Uint8Array.of(0), noCodeHash(suite), NO_CODE_KECCAK);
  return [
    longer,
    concatBytes(head(flags | 0x10), rest),
    concatBytes(head(flags | 0x20), rest),
    concatBytes(head((flags & ~0x0f) | 0x09), new Uint8Array(9 - nonceBytes), rest),
    concatBytes(head(flags), nonce, Uint8Array.of(balanceBytes + 1, 0), balanceAndMore.subarray(1)),
    ...((flags & 0x80) === 0 ? [concatBytes(head(flags | 0x80), rest, newTreeRoot(suite))] : []),
    ...((flags & 0xc0) === 0 ? [concatBytes(head(flags | 0x40), rest, noCode)] : []),
  ];
}

const FORGERIES = {
  "a leaf hidden as deleted": (valid, pick) => {
    const {records, from} = valid.range;
    const i = pick(records.length);
    const removed = Uint8Array.of(valid.isAccounts ? 0x0f : 0);
    return from + i < 2 ? undefined : join(valid, {records: records.with(i, removed)});
  },
  "a deleted leaf shown again": (valid, pick) => {
    const {range, tree, suite, isAccounts, keyOf} = valid;
    const i = pick(range.records.length);
    const [index, leaf] = [range.from + i, tree.positions[2 + pick(tree.nextFreeNode - 2)]];
    if (tree.positions[index] !== null || !leaf) return undefined;
    const record = leafRecord(suite, leaf, index, isAccounts, widthOf(tree.nextFreeNode), keyOf);
    return join(valid, {records: range.records.with(i, record)});
  },
  "another range in its place": (valid, pick) => {
    const {range, tree, parts} = valid;
    const other = valid.other({from: pick(tree.nextFreeNode)}).range as Range;
    return joinRange({...parts, range: {...other, from: range.from}});
  },
  "the records of another range": (valid, pick) => {
    const {records} = valid.other({from: pick(valid.tree.nextFreeNode)}).range as Range;
    return join(valid, {records});
  },
  "an older block": (valid, pick) => {
    const {head, range} = valid.other({block: 0});
    return joinRange(pick(2) === 0 ? {head: valid.parts.head, range} : {head, range: valid.range});
  },
  "another chain": (valid, pick) => {
    const {head, range} = valid.other({isOtherChain: true});
    return joinRange(pick(2) === 0 ? {head: valid.parts.head, range} : {head, range});
  },
  "another tree": (valid, pick) => {
    const {head, range} = valid.other({tree: valid.isAccounts ? CONTRACT : "accounts", from: 0});
    return joinRange(
      [
        {head: valid.parts.head, range},
        {head, range},
        {head, range: valid.range},
      ][pick(3)] as RangeParts,
    );
  },
  "another form of a record": (valid, pick) => {
    const {range, tree, keyOf, isAccounts} = valid;
    const i = pick(range.records.length);
    const leaf = tree.positions[range.from + i];
    if (range.from + i < 2 || !leaf) return undefined;
    const keyBytes = keyOf(leaf.hKey, isAccounts).length + (isAccounts ? 0 : 1);
    const record = range.records[i] as Uint8Array;
    const forms = otherForms(valid, record, keyBytes, widthOf(tree.nextFreeNode));
    return join(valid, {records: range.records.with(i, forms[pick(forms.length)] as Uint8Array)});
  },
  /** Under poseidon2, no limb is as large. Of an account with code, codeHash, keccakCodeHash and storageRoot come last. */
  "words that are no digests": (valid, pick) => {
    const {records} = valid.range;
    const i = records.findIndex(({length}) => length > 100);
    const record = records[i];
    if (record === undefined) return undefined;
    const at = record.length - (pick(2) === 0 ? 32 : 96) + 4 * pick(8);
    return join(valid, {records: records.with(i, record.with(at, 0xff))});
  },
} satisfies Record<string, Forge>;
