/** What a service must end, in the order in which it was started. */
import {WorkError} from "./workError.ts";

/** Takes the name of what is waited for, as in "still open: the import". */
type OnWait = (what: string) => void;

interface Part {
  name: string;
  readonly end: (onWait: OnWait) => Promise<void>;
}

export class Ends {
  private readonly parts: Part[] = [];
  private ending: Promise<void> | undefined;

  add(name: string, end: Part["end"]): void {
    this.parts.push({name, end});
  }

  /**
   * Ends the last part first, one after the other. Called again, it waits again.
   *
   * @throws WorkError that names the parts that have not ended in time. They may still end
   */
  async run(timeoutMs: number): Promise<void> {
    this.ending ??= this.endAll();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const names = this.parts.map(({name}) => name).reverse();
        reject(new WorkError(`expected an end within ${timeoutMs} ms; still open: ${names.join(", ")}`));
      }, timeoutMs);
    });
    try {
      await Promise.race([this.ending, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  private async endAll(): Promise<void> {
    for (let part = this.parts.at(-1); part !== undefined; part = this.parts.at(-1)) {
      const current = part;
      await current.end(what => {
        current.name = what;
      });
      this.parts.pop();
    }
  }
}
