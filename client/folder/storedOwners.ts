import {isEqual} from "../bytes/byteString.ts";
import type {Manifest} from "./manifest.ts";
import {damaged} from "./pulledError.ts";
import type {AccountRow, TreeRow} from "./row/tables.ts";
import {TableReader} from "./tableReader.ts";

/** The accounts that have storage, read beside their trees, which come in the same order. */
export class StoredOwners {
  private readonly accounts: TableReader<"accounts">;

  constructor(
    folder: string,
    private readonly manifest: Manifest,
  ) {
    this.accounts = new TableReader(folder, manifest, "accounts");
  }

  /** @throws PulledError if the tree is not that of the next account with storage */
  async check(tree: TreeRow, place: string): Promise<void> {
    const owner = await this.next();
    if (owner?.leafIndex !== tree.accountIndex)
      throw damaged(
        place,
        `account_index: expected ${owner?.leafIndex ?? "none"}, the next account with storage, got ${tree.accountIndex}`,
      );
    const {address, storageRoot} = owner;
    if (!isEqual(address, tree.address)) throw damaged(place, "address: expected that of the account");
    if (storageRoot === undefined || !isEqual(storageRoot, tree.root))
      throw damaged(place, "root: expected the storage_root of the account");
  }

  /** @throws PulledError if an account's tree is missing */
  async end(): Promise<void> {
    const {pulled} = this.manifest.asked;
    const owner = pulled === "all" || pulled === "storage" ? await this.next() : undefined;
    if (owner !== undefined)
      throw damaged(this.accounts.place, `expected the storage tree of the account at ${owner.leafIndex}`);
  }

  close(): Promise<void> {
    return this.accounts.close();
  }

  private async next(): Promise<AccountRow | undefined> {
    let row = await this.accounts.next();
    while (row !== undefined && row.storageRoot === undefined) row = await this.accounts.next();
    return row;
  }
}
