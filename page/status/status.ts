/** Reads and shows the figures of the service while the page is visible. */
import {createProofClient, type ProofClient} from "../../client/methods/proofClient.ts";
import {version} from "../about.ts";
import {place} from "../element.ts";
import {Blocks} from "./blocks.ts";
import {History} from "./history.ts";
import {Scrape} from "./scrape.ts";
import {showTiles} from "./tiles.ts";

const EVERY_MS = 2000;
const TIMEOUT_MS = 10_000;

export class Status {
  private readonly history = new History();
  private readonly server: Pick<ProofClient, "getCoverage" | "getStateRoot">;
  private readonly blocks: Blocks;
  /** JSON-RPC calls that this page has made for its status. */
  private ownCalls = 0;

  /** @param home - URL of the page. @param onChoice - called with the number of a block that was clicked */
  constructor(
    private readonly home: URL,
    onChoice: (block: bigint) => void,
  ) {
    const countedFetch: typeof fetch = (...asked) => {
      this.ownCalls++;
      return fetch(...asked);
    };
    this.server = createProofClient({url: home.href, verify: false, fetch: countedFetch});
    this.blocks = new Blocks(this.server, onChoice);
  }

  async follow(): Promise<never> {
    for (;;) {
      if (!document.hidden) await this.read();
      await new Promise(resolve => setTimeout(resolve, EVERY_MS));
    }
  }

  private async read(): Promise<void> {
    const problem = place("figures-problem");
    try {
      const [metrics, ready] = await Promise.all([
        this.ask("metrics", [200, 404]),
        this.ask("readyz", [200, 503]),
      ]);
      showReadiness(ready.status === 200, ready.text);
      if (metrics.status === 404) {
        const {earliest, latest, finalized} = await this.server.getCoverage();
        const [first, last, proven] = [earliest, latest, finalized].map(one =>
          one === undefined ? undefined : Number(one),
        );
        if (first !== undefined && last !== undefined) await this.blocks.show(first, last, proven);
        const elsewhere = "/metrics is served on another port (--metrics-port)";
        setText(problem, `Figures are not available here: ${elsewhere}.`);
        return;
      }
      const scrape = new Scrape(metrics.text, performance.now(), this.ownCalls);
      this.history.add(scrape);
      showTiles(scrape, this.history);
      const head = scrape.by("proofd_head_block", "which");
      const [earliest, latest] = [head.get("earliest"), head.get("latest")];
      if (earliest !== undefined && latest !== undefined)
        await this.blocks.show(earliest, latest, head.get("finalized"));
      setText(problem, "");
    } catch (error) {
      setText(problem, `The figures cannot be read: ${(error as Error).message}`);
    }
  }

  private async ask(path: string, expected: readonly number[]): Promise<{status: number; text: string}> {
    const response = await fetch(new URL(path, this.home), {signal: AbortSignal.timeout(TIMEOUT_MS)});
    const {status} = response;
    if (!expected.includes(status))
      throw new Error(`/${path}: expected status ${expected[0]}, got ${status}`);
    return {status, text: await response.text()};
  }
}

function showReadiness(isReady: boolean, text: string): void {
  const said = place("readiness");
  said.className = isReady ? "good" : "bad";
  const lines = text.trim().split("\n");
  setText(said, isReady ? lines.join("; ") : `not ready: ${lines.join("; ")}`);
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
