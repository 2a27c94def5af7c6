/** Shows whether the service is ready, and its newest blocks, while the page is visible. */
import type {ProofClient} from "../client/methods/proofClient.ts";
import {version} from "./about.ts";
import {Blocks} from "./blocks.ts";
import {place} from "./element.ts";

const EVERY_MS = 2000;
const TIMEOUT_MS = 10_000;

export class Status {
  private readonly blocks: Blocks;

  /** @param home - URL of the page. @param onChoice - called with the number of a block that was clicked */
  constructor(
    private readonly home: URL,
    private readonly server: Pick<ProofClient, "getCoverage" | "getStateRoot">,
    onChoice: (block: bigint) => void,
  ) {
    this.blocks = new Blocks(server, onChoice);
  }

  async follow(): Promise<never> {
    for (;;) {
      if (!document.hidden) await this.read();
      await new Promise(resolve => setTimeout(resolve, EVERY_MS));
    }
  }

  private async read(): Promise<void> {
    const problem = place("blocks-problem");
    try {
      await this.showReadiness();
      await this.blocks.show(await this.server.getCoverage());
      setText(problem, "");
    } catch (error) {
      setText(problem, `The service cannot be read: ${(error as Error).message}`);
    }
  }

  private async showReadiness(): Promise<void> {
    const response = await fetch(new URL("readyz", this.home), {signal: AbortSignal.timeout(TIMEOUT_MS)});
    const {status} = response;
    if (status !== 200 && status !== 503) throw new Error(`/readyz: expected status 200, got ${status}`);
    const said = place("readiness");
    said.className = status === 200 ? "good" : "bad";
    const text = (await response.text()).trim().replaceAll("\n", "; ");
    setText(said, status === 200 ? text : `not ready: ${text}`);
  }
}

/** Does nothing if the text has not changed, so that screen readers read it once. */
function setText(where: HTMLElement, text: string): void {
  if (where.textContent !== text) where.textContent = text;
}

/** Shows version and hash suite. @returns the name of the suite. @throws RpcError */
export async function showService(server: Pick<ProofClient, "getCoverage">): Promise<string> {
  const {suite} = await server.getCoverage();
  setText(place("service"), `${version}: proofs of a layer-2 chain's state, hash suite ${suite}`);
  return suite;
}
