/**
 * Random choices that come out the same each time: a hash chain from a label.
 *
 * The rest of the project uses pure-rand. This hash chain stays, because the published chain.rlp depends on its choices.
 */
import {keccak_256} from "@noble/hashes/sha3.js";
import {hashLabel} from "./demoAccount.ts";

export class Dice {
  private state: Uint8Array;

  constructor(label: string) {
    this.state = hashLabel(label);
  }

  /** 0 <= result < sides. */
  roll(sides: number): number {
    this.state = keccak_256(this.state);
    return Buffer.from(this.state).readUInt32BE(0) % sides;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.roll(choices.length)] as T;
  }
}
