/** All accounts of the demo chain: accounts that send, addresses that only receive, contracts. */
import {generateAddress, generateAddress2} from "@ethereumjs/util";
import {word} from "../../../client/hash/hashSuites.ts";
import {type ContractArtefact, readContract} from "../../../demo/artefact.ts";
import {type DemoAccount, makeAccount, makeAddress} from "./demoAccount.ts";

export const RESIDENTS = 320;
export const CITIZENS = 720;
export const HOLDERS = 350;

export const TOKEN = readContract("DemoToken");
export const DISPERSER = readContract("Disperser");
export const LEDGER = readContract("Ledger");
export const FACTORY = readContract("Factory");
export const VAULT = readContract("Factory", "Vault");
export const PIGGY_BANK = readContract("PiggyBank");
export const BATCHER = readContract("Batcher");
const EPHEMERAL = readContract("Factory", "Ephemeral");

/** The contracts that the deployer creates in block 1, in the order of its nonces. */
export const DEPLOYED: readonly ContractArtefact[] = [TOKEN, DISPERSER, LEDGER, FACTORY, PIGGY_BANK, BATCHER];

/** Creation code and constructor arguments. All contracts here take numbers only. */
export function encodeCreation(contract: ContractArtefact, ...values: readonly bigint[]): Uint8Array {
  return new Uint8Array(Buffer.concat([Buffer.from(contract.bytecode, "hex"), ...values.map(word)]));
}

export class Cast {
  readonly deployer = makeAccount("deployer");
  /** Have ether from block 0 on. */
  readonly residents = Array.from({length: RESIDENTS}, (_, i) => makeAccount(`resident ${i}`));
  /** Get ether in blocks 2 to 13. */
  readonly citizens = Array.from({length: CITIZENS}, (_, i) => makeAddress(`citizen ${i}`));

  readonly token = this.addressOf(TOKEN);
  readonly disperser = this.addressOf(DISPERSER);
  readonly ledger = this.addressOf(LEDGER);
  readonly factory = this.addressOf(FACTORY);
  readonly piggyBank = this.addressOf(PIGGY_BANK);
  readonly batcher = this.addressOf(BATCHER);

  /** Get tokens in blocks 14 to 20. Half of them are residents, who can send tokens on. */
  get holders(): readonly Uint8Array[] {
    const residents = this.residents.slice(0, HOLDERS / 2).map(({address}) => address);
    return [...residents, ...this.citizens.slice(0, HOLDERS / 2)];
  }

  resident(index: number): DemoAccount {
    const resident = this.residents[index];
    if (resident === undefined) throw new Error(`no resident ${index}`);
    return resident;
  }

  /** Where the factory creates and destroys an Ephemeral. */
  ephemeral(salt: bigint): Uint8Array {
    return generateAddress2(this.factory, word(salt), Buffer.from(EPHEMERAL.bytecode, "hex"));
  }

  private addressOf(contract: ContractArtefact): Uint8Array {
    const nonce = DEPLOYED.indexOf(contract);
    return generateAddress(this.deployer.address, nonce === 0 ? new Uint8Array(0) : Uint8Array.of(nonce));
  }
}
