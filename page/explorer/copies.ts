/** Texts to copy, each with a button. */
import {element} from "../element.ts";

export interface Copy {
  readonly title: string;
  readonly note: string;
  readonly text: string;
}

const SAID_MS = 2000;

export function drawCopy({title, note, text}: Copy): HTMLElement {
  const code = element("pre", {tabindex: "0", "aria-label": title}, text);
  const button = element("button", {type: "button", class: "small"}, "Copy");
  button.setAttribute("aria-label", `Copy ${title}`);
  button.addEventListener("click", () => void copy(text, code, button));
  return element(
    "div",
    {class: "copy"},
    element("div", {class: "bar"}, element("h4", {}, title), button),
    element("p", {class: "hint"}, note),
    code,
  );
}

/** Copies to the clipboard. Where the browser refuses that (only https and localhost may), selects the text. */
async function copy(text: string, code: HTMLElement, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    getSelection()?.selectAllChildren(code);
    code.focus();
    button.textContent = "Selected: press Ctrl+C";
  }
  setTimeout(() => {
    button.textContent = "Copy";
  }, SAID_MS);
}
