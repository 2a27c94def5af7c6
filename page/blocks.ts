/** The table of the newest blocks with their roots. */

import type {RootedBlock} from "../client/methods/block.ts";
import type {Coverage} from "../client/methods/coverage.ts";
import type {ProofClient} from "../client/methods/proofClient.ts";
import {element, place} from "./element.ts";
import {shorten, writeWhole} from "./figureText.ts";

const MOST = 7n;

export class Blocks {
  private shown = "";

  constructor(
    private readonly server: Pick<ProofClient, "getStateRoot">,
    private readonly onChoice: (block: bigint) => void,
  ) {}

  /** Updates the table if one of the numbers has changed. @throws RpcError */
  async show({earliest, latest, finalized}: Coverage): Promise<void> {
    if (earliest === undefined || latest === undefined) return;
    const head = `${earliest} ${latest} ${finalized}`;
    if (head === this.shown) return;
    const numbers: bigint[] = [];
    for (let block = latest; block >= earliest && block > latest - MOST; block--) numbers.push(block);
    // A block may have been pruned or rolled back in the meantime.
    const found = await Promise.allSettled(numbers.map(block => this.server.getStateRoot({block})));
    const rows = found.flatMap(one => (one.status === "fulfilled" ? [this.draw(one.value)] : []));
    place("blocks")
      .querySelector("tbody")
      ?.replaceChildren(...rows);
    this.shown = head;
  }

  private draw({number, stateRoot, finalized, l1}: RootedBlock): HTMLElement {
    const button = element("button", {type: "button", class: "quiet"}, writeWhole(number));
    button.title = "Prove at this block";
    button.addEventListener("click", () => this.onChoice(number));
    const finality =
      l1 !== undefined ? `layer 1, block ${writeWhole(l1.blockNumber)}` : finalized ? "finalized" : "not yet";
    return element(
      "tr",
      {},
      element("td", {}, button),
      element("td", {}, element("code", {title: stateRoot}, shorten(stateRoot))),
      element("td", {class: finalized ? "" : "faint"}, finality),
    );
  }
}
