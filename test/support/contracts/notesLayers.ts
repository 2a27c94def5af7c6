/** Two nodes and what is between them: Notes on layer 2, its readers on layer 1 (test/fixtures/own/Notes.sol), and proofd. */
import {fileURLToPath} from "node:url";
import type {Artefact} from "../../../contracts/artefacts.ts";
import {WorkFolder} from "../chains/serviceChain.ts";
import {waitForCoverage} from "../http/followingDaemon.ts";
import {OwnService} from "../http/ownService.ts";
import {Anvil} from "../processes/anvil.ts";
import {readFixture} from "../reference/fixtures.ts";
import {CcipRead} from "./ccipRead.ts";
import {DeployedContract} from "./deployedContract.ts";

const GENESIS = fileURLToPath(import.meta.resolve("#package/examples/bridge/genesis.json"));
/** With one slot in an epoch, anvil calls a block finalized once two more are above it. */
const EPOCH = ["--slots-in-an-epoch", "1"];
const LAYER_2 = "--chain-id 31338 --hardfork osaka --accounts 2 --disable-default-create2-deployer".split(
  " ",
);
const NOBODY = `0x${"00".repeat(20)}`;
/** Slot of the mapping `amounts`. */
const AMOUNTS = 1n;

interface Parts {
  readonly layer1: Anvil;
  readonly layer2: Anvil;
  /** Of the suites sha256 and poseidon2, finalized by an oracle each, and keccak, by layer 2's own tag. */
  readonly service: OwnService;
  readonly poseidon2Service: OwnService;
  readonly keccakService: OwnService;
  readonly oracle: DeployedContract;
  readonly poseidon2Oracle: DeployedContract;
  readonly notes: DeployedContract;
}

export class NotesLayers {
  readonly parts: Parts;
  /** By an oracle's roots of sparse trees of either suite, and by hashes of blocks from each store of tries. */
  readonly readers: {
    readonly oracle: CcipRead;
    readonly poseidon2: CcipRead;
    readonly hash: CcipRead;
    readonly keccak: CcipRead;
  };
  /** Also by the oracle's roots, but of the newest block only. */
  readonly deposits: CcipRead;

  private constructor(parts: Parts, readers: NotesLayers["readers"], deposits: CcipRead) {
    this.parts = parts;
    this.readers = readers;
    this.deposits = deposits;
  }

  /** @returns a text that says why there is no anvil */
  static async start(): Promise<NotesLayers | string> {
    const layer2 = await Anvil.start([...EPOCH, ...LAYER_2, "--init", GENESIS]);
    if (typeof layer2 === "string") return layer2;
    const layer1 = (await Anvil.start([...EPOCH, "--hardfork", "osaka"])) as Anvil;
    const folder = new WorkFolder();
    const [source] = await layer1.request<readonly [string]>("eth_accounts");
    const oracle = await DeployedContract.create(layer1, "StateRootOracle", source, NOBODY);
    const poseidon2Oracle = await DeployedContract.create(layer1, "StateRootOracle", source, NOBODY);
    await mine(layer1);
    const flags = ["--l2", layer2.url, "--genesis", GENESIS];
    const serveTrees = (suite: string, {address}: DeployedContract) => {
      const finality = ["--l1", layer1.url, "--rollup", address];
      return OwnService.serve(["--db", folder.file(suite), "--suite", suite, ...flags, ...finality]);
    };
    const service = await serveTrees("sha256", oracle);
    const poseidon2Service = await serveTrees("poseidon2", poseidon2Oracle);
    const tries = ["--db", folder.file("tries"), "--suite", "keccak", "--finality", "tag"];
    const keccakService = await OwnService.serve([...tries, ...flags]);
    const {contracts} = readFixture<{contracts: Readonly<Record<string, Artefact>>}>("own/notes");
    const notes = await DeployedContract.create(layer2, contracts.Notes as Artefact);
    const sparse = await DeployedContract.create(layer1, "Sha256ProofVerifier");
    const poseidon2 = await DeployedContract.create(layer1, "Poseidon2ProofVerifier");
    const trie = await DeployedContract.create(layer1, "KeccakProofVerifier");
    const create = async (contract: string | Artefact, ...values: readonly (string | bigint | boolean)[]) =>
      new CcipRead(layer1, await DeployedContract.create(layer1, contract, ...values));
    const byGet = (url: string) => `${url}/ccip/{sender}/{data}.json`;
    const byPost = `${service.url}/ccip`;
    const [known, hashes] = [contracts.OracleReader as Artefact, contracts.HashReader as Artefact];
    const trusted = [oracle.address, notes.address] as const;
    return new NotesLayers(
      {layer1, layer2, service, poseidon2Service, keccakService, oracle, poseidon2Oracle, notes},
      {
        oracle: await create(known, sparse.address, false, ...trusted, byGet(service.url)),
        poseidon2: await create(
          ...([known, poseidon2.address, false, poseidon2Oracle.address, notes.address] as const),
          byGet(poseidon2Service.url),
        ),
        hash: await create(hashes, trie.address, notes.address, byPost),
        keccak: await create(hashes, trie.address, notes.address, byGet(keccakService.url)),
      },
      await create("DepositReader", sparse.address, ...trusted, AMOUNTS, 0n, byPost),
    );
  }

  /** Makes the newest block of layer 2 known to layer 1: its root of sparse trees, and its hash. */
  async finalize(): Promise<void> {
    const {layer1, layer2, service, poseidon2Service, keccakService, oracle, poseidon2Oracle} = this.parts;
    const {number, hash} = await layer2.request<{number: string; hash: string}>(
      "eth_getBlockByNumber",
      "latest",
      false,
    );
    const trees = [
      [service, oracle],
      [poseidon2Service, poseidon2Oracle],
    ] as const;
    for (const [sparse, known] of trees) {
      let root: string | undefined;
      await sparse.until(`block ${number}`, async () => {
        root = (await sparse.call("chain_getStateRoot", [number])).result?.stateRoot;
        return root !== undefined;
      });
      await known.send("record", BigInt(number), root as string);
    }
    await this.readers.hash.contract.send("record", BigInt(number), hash);
    await this.readers.keccak.contract.send("record", BigInt(number), hash);
    await mine(layer1);
    for (const [sparse] of trees) await waitForCoverage(sparse, "finalized", number);
    await layer2.request("anvil_mine", "0x2");
    await waitForCoverage(keccakService, "finalized", number);
  }

  async stop(): Promise<void> {
    const {layer1, layer2, service, poseidon2Service, keccakService} = this.parts;
    for (const one of [service, poseidon2Service, keccakService]) await one.stop();
    await layer1.stop();
    await layer2.stop();
  }
}

/** What was mined before is final then. */
function mine(node: Anvil): Promise<unknown> {
  return node.request("anvil_mine", "0x3");
}
