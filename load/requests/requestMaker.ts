/**
 * Makes the bodies of requests. Each has new random keys, so that a cache in the server cannot answer all of them.
 *
 * Hot: runs once per request. Concatenating strings takes 1 us per call without slots; the server takes 50 us or more.
 */
import type {LoadOptions} from "../loadOptions.ts";
import {type Keys, type KnownAccount, numberedAddress} from "./keys.ts";
import type {Random} from "./random.ts";

/** A range of blocks, both ends inclusive. */
export interface BlockSpan {
  readonly low: number;
  readonly high: number;
}

export interface RequestPlan
  extends Pick<
    LoadOptions,
    "style" | "batch" | "slots" | "absent" | "estimates" | "estimateMethod" | "estimateParams"
  > {
  /** undefined: the tag "latest". */
  readonly blocks: BlockSpan | undefined;
  readonly keys: Keys;
}

export type RequestBody = Readonly<ReturnType<RequestMaker["next"]>>;

const NO_ESTIMATES: readonly number[] = [];
const NO_SLOTS: readonly string[] = [];
const SLOT_WORDS = 8;
const ADDRESS_WORDS = 5;

export class RequestMaker {
  private readonly proofMethod: string;
  private readonly estimateMethod: string;
  /** Senders and receivers of transfers. Preferably accounts without slots: a contract may reject a transfer. */
  private readonly payers: readonly KnownAccount[];

  constructor(
    private readonly plan: RequestPlan,
    private readonly random: Random,
  ) {
    this.proofMethod = `${plan.style}_getProof`;
    this.estimateMethod = plan.estimateMethod ?? `${plan.style}_estimateGas`;
    const accounts = plan.keys.kind === "list" ? plan.keys.accounts : [];
    const plain = accounts.filter(({slots}) => slots.length === 0);
    this.payers = plain.length > 0 ? plain : accounts;
  }

  /** @returns `estimates`: ids of the calls that are estimates, ascending. Ids are 0 .. batch - 1 */
  next() {
    const {batch, estimates} = this.plan;
    let ids: number[] | undefined;
    let text = "";
    for (let id = 0; id < batch; id++) {
      const isEstimate = estimates > 0 && this.random.fraction() < estimates;
      if (isEstimate && ids === undefined) ids = [id];
      else if (isEstimate) ids?.push(id);
      text += `${id === 0 ? "" : ","}${isEstimate ? this.makeEstimate(id) : this.makeProof(id)}`;
    }
    return {text: batch === 1 ? text : `[${text}]`, estimates: ids ?? NO_ESTIMATES};
  }

  private makeProof(id: number): string {
    const {absent, keys} = this.plan;
    let address: string;
    let known = NO_SLOTS;
    if (absent > 0 && this.random.fraction() < absent) {
      address = `0x${this.random.hexWords(ADDRESS_WORDS)}`;
    } else if (keys.kind === "numbered") {
      address = `0x${numberedAddress(this.random.below(keys.count))}`;
    } else {
      const account = keys.accounts[this.random.below(keys.accounts.length)] as KnownAccount;
      address = account.address;
      known = account.slots;
    }
    const params = `["${address}",[${this.chooseSlots(known)}],${this.chooseBlock()}]`;
    return `{"jsonrpc":"2.0","id":${id},"method":"${this.proofMethod}","params":${params}}`;
  }

  /** First the known slots, each once, from a random one on; then random ones. */
  private chooseSlots(known: readonly string[]): string {
    const {slots} = this.plan;
    if (slots === 0) return "";
    const first = known.length === 0 ? 0 : this.random.below(known.length);
    let text = "";
    for (let i = 0; i < slots; i++) {
      const slot =
        i < known.length ? known[(first + i) % known.length] : `0x${this.random.hexWords(SLOT_WORDS)}`;
      text += `${i === 0 ? "" : ","}"${slot}"`;
    }
    return text;
  }

  private chooseBlock(): string {
    const {blocks} = this.plan;
    if (blocks === undefined) return '"latest"';
    return `"0x${(blocks.low + this.random.below(blocks.high - blocks.low + 1)).toString(16)}"`;
  }

  private makeEstimate(id: number): string {
    const {estimateParams: texts} = this.plan;
    // By default a transfer of 0 wei at the newest block, which needs no balance.
    const params =
      texts === undefined
        ? `[{"from":"${this.choosePayer()}","to":"${this.choosePayer()}","value":"0x0"}]`
        : texts[this.random.below(texts.length)];
    return `{"jsonrpc":"2.0","id":${id},"method":"${this.estimateMethod}","params":${params}}`;
  }

  private choosePayer(): string {
    const {keys} = this.plan;
    if (keys.kind === "numbered") return `0x${numberedAddress(this.random.below(keys.count))}`;
    return (this.payers[this.random.below(this.payers.length)] as KnownAccount).address;
  }
}
