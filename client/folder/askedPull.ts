/** What a pull is of, whoever was asked: the same for the pull that begins a folder and for those that resume it. */
import type {FormatName} from "./format/formatName.ts";

/** Which keys and trees. */
type Pulled = "accounts" | "storage" | "all" | "keys" | "changes";

export interface AskedPull {
  readonly suite: "sha256" | "poseidon2";
  readonly format: FormatName;
  readonly pulled: Pulled;
  /** Of "storage": the accounts, in lower case. Of "keys": nothing. */
  readonly addresses?: readonly string[] | undefined;
  /** Of "keys": the sha-256 of the file with the keys, `0x` text. */
  readonly keys?: string | undefined;
  /** Of "changes": the block before, and its trusted root. */
  readonly fromBlock?: number | undefined;
  readonly fromRoot?: string | undefined;
  readonly block: number;
  /** The trusted root, `0x` text. */
  readonly stateRoot: string;
}
