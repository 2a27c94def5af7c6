/** A service over the chain of serviceChain.ts, whose proofs are checked against its state roots. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import {WorkFolder} from "../chains/serviceChain.ts";
import {type Proven, verifyProof} from "../reference/exactProof.ts";
import type {Answer} from "./jsonrpcAnswer.ts";
import {OwnService} from "./ownService.ts";

export const LATEST = 6;
export const FINALIZED = 4;

export class ProvenService {
  readonly daemon: OwnService;
  private readonly folder: WorkFolder;
  private readonly roots: readonly Uint8Array[];

  private constructor(daemon: OwnService, folder: WorkFolder, roots: readonly Uint8Array[]) {
    this.daemon = daemon;
    this.folder = folder;
    this.roots = roots;
  }

  /** @param flags - more of them, for `proofd serve` */
  static async start(...flags: readonly string[]): Promise<ProvenService> {
    const folder = new WorkFolder();
    const db = await folder.importChain("db", LATEST, FINALIZED);
    const daemon = await OwnService.serve(["--db", db, "--workers", "2", ...flags]);
    const roots: Uint8Array[] = [];
    for (let block = 0; block <= LATEST; block++) {
      const {result} = await daemon.call("chain_getStateRoot", [`0x${block.toString(16)}`]);
      roots.push(decodeHex(result.stateRoot));
    }
    return new ProvenService(daemon, folder, roots);
  }

  root(block: number): Uint8Array {
    return this.roots[block] as Uint8Array;
  }

  path(name: string): string {
    return this.folder.file(name);
  }

  async write(name: string, content: string | Uint8Array): Promise<string> {
    await writeFile(this.path(name), content);
    return this.path(name);
  }

  /** @throws Error if an answer is no proof, or proves another block than `block` */
  verify(block: number, address: string, keys: readonly string[], answer: Answer): Proven {
    assert.equal(answer.error, undefined);
    return verifyProof(sha256Suite, this.root(block), address, keys, answer.result);
  }

  async stop(): Promise<void> {
    await this.daemon.stop();
  }
}
