/** The form that requests proofs. The fragment of the page's URL has the request too, for bookmarks. */
import type {HashSuite} from "../../client/hash/hashSuites.ts";
import type {ProofClient} from "../../client/methods/proofClient.ts";
import type {Sample} from "../about.ts";
import {element, place} from "../element.ts";
import {type FieldName, FieldProblem, readFields} from "./fields.ts";
import {findProof} from "./finding.ts";
import {drawFinding} from "./findingView.ts";

const FIELDS: readonly FieldName[] = ["address", "slots", "block", "root"];

type Field = HTMLInputElement | HTMLTextAreaElement;

export class Explorer {
  /** Counts requests, so that only the answer to the last one is shown. */
  private asked = 0;

  /** @param url - URL of the service. @param samples - requests to click */
  constructor(
    private readonly suite: HashSuite,
    private readonly server: ProofClient<false>,
    private readonly url: string,
    samples: readonly Sample[],
  ) {
    if (samples.length > 0)
      place("samples").replaceChildren("Try ", ...samples.flatMap(sample => [this.offer(sample), " "]));
    place("request").addEventListener("submit", event => {
      event.preventDefault();
      void this.prove(true);
    });
    addEventListener("hashchange", () => this.readAddress());
    this.readAddress();
  }

  private offer({title, address, slots}: Sample): HTMLElement {
    const button = element("button", {type: "button", class: "quiet", title: address}, title);
    button.addEventListener("click", () => {
      place<Field>("address").value = address;
      place<Field>("slots").value = slots;
      void this.prove(true);
    });
    return button;
  }

  /** Proves the account of the form at another block. */
  chooseBlock(block: bigint): void {
    place<Field>("block").value = String(block);
    if (place<Field>("address").value === "") place("address").focus();
    else void this.prove(true);
  }

  /** @param moves - whether to move the focus to the answer, for keyboards and screen readers */
  private async prove(moves: boolean): Promise<void> {
    const number = ++this.asked;
    const texts = Object.fromEntries(FIELDS.map(name => [name, place<Field>(name).value])) as Record<
      FieldName,
      string
    >;
    for (const name of FIELDS) showProblem(name, "");
    const result = place("result");
    try {
      const asked = readFields(texts);
      history.replaceState(null, "", writeHash(texts));
      result.setAttribute("aria-busy", "true");
      const finding = await findProof(this.suite, this.server, asked);
      if (number !== this.asked) return;
      result.replaceChildren(drawFinding(finding, this.url));
    } catch (error) {
      if (number !== this.asked) return;
      if (error instanceof FieldProblem) {
        showProblem(error.field, error.message);
        place(error.field).focus();
        return;
      }
      result.replaceChildren(drawProblem(error as Error));
    } finally {
      if (number === this.asked) result.removeAttribute("aria-busy");
    }
    if (!moves) return;
    place("verdict").focus({preventScroll: true});
    place("verdict").scrollIntoView({block: "nearest"});
  }

  /** Requests the proof that the URL's fragment names. */
  private readAddress(): void {
    const named = new URLSearchParams(location.hash.slice(1));
    if (!named.has("address")) return;
    for (const name of FIELDS) {
      const text = named.get(name);
      if (text !== null) place<Field>(name).value = text;
    }
    void this.prove(false);
  }
}

function showProblem(field: FieldName, text: string): void {
  place(`${field}-problem`).textContent = text;
  if (text === "") place(field).removeAttribute("aria-invalid");
  else place(field).setAttribute("aria-invalid", "true");
}

function drawProblem(error: Error): HTMLElement {
  return element(
    "div",
    {class: "card verdict bad", id: "verdict", tabindex: "-1"},
    element("h3", {}, "No proof"),
    element("p", {}, error.message),
  );
}

function writeHash(texts: Readonly<Record<FieldName, string>>): string {
  const given = FIELDS.filter(name => texts[name].trim() !== "").map(name => [name, texts[name].trim()]);
  return `#${new URLSearchParams(given)}`;
}
