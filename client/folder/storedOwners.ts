import {isEqual} from "../bytes/byteString.ts";
import {damaged} from "./checkedPlace.ts";
import type {Manifest} from "./manifest.ts";
import type {AccountRow, TreeRow} from "./row/tables.ts";
import {TableReader} from "./tableReader.ts";

/** The accounts that have storage, read beside their trees. */
export class StoredOwners {
  private readonly accounts: TableReader<"accounts">;
  private readonly isInOrder: boolean;
  /** Of a pull of some accounts, those that have no tree yet, by leaf index. */
  private readonly waiting = new Map<number, AccountRow>();

  constructor(
    folder: string,
    private readonly manifest: Manifest,
  ) {
    this.accounts = new TableReader(folder, manifest, "accounts");
    this.isInOrder = manifest.asked.pulled === "all";
  }

  /** @throws PulledError if the tree is not that of the next account with storage, or of none that was asked for */
  async check(tree: TreeRow, place: string): Promise<void> {
    const owner = await this.find(tree.accountIndex);
    if (owner === undefined || owner.leafIndex !== tree.accountIndex)
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
    if (!this.hasTrees) return;
    if (!this.isInOrder) await this.readWaiting();
    const owner = this.isInOrder ? await this.next() : [...this.waiting.values()][0];
    if (owner !== undefined)
      throw damaged(this.accounts.place, `expected the storage tree of the account at ${owner.leafIndex}`);
  }

  private get hasTrees(): boolean {
    const {pulled} = this.manifest.asked;
    return pulled === "all" || pulled === "storage";
  }

  private async find(accountIndex: number): Promise<AccountRow | undefined> {
    if (this.isInOrder) return this.next();
    await this.readWaiting();
    const owner = this.waiting.get(accountIndex);
    this.waiting.delete(accountIndex);
    return owner;
  }

  private async readWaiting(): Promise<void> {
    for (let owner = await this.next(); owner !== undefined; owner = await this.next())
      this.waiting.set(owner.leafIndex, owner);
  }

  private async next(): Promise<AccountRow | undefined> {
    let row = await this.accounts.next();
    while (row !== undefined && row.storageRoot === undefined) row = await this.accounts.next();
    return row;
  }
}
