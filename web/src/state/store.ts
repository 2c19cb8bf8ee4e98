import { useSyncExternalStore } from "react";

/** A value that components can watch. Small enough to need no library. */
export class Store<T> {
  #value: T;
  #watchers = new Set<() => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get = (): T => this.#value;

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const tell of [...this.#watchers]) tell();
  }

  change(part: Partial<T>): void {
    this.set({ ...this.#value, ...part });
  }

  watch = (tell: () => void): (() => void) => {
    this.#watchers.add(tell);
    return () => this.#watchers.delete(tell);
  };
}

/** The part of a store that a component needs; it is drawn again only when that part changes. */
export function useStore<T, P>(store: Store<T>, part: (value: T) => P): P {
  return useSyncExternalStore(store.watch, () => part(store.get()));
}
