// Loads libraries at their first use, so that a process that meets no compressed batch pays nothing for the codecs.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** A function that loads `specifier` when it is first called and remembers what it got. */
export function onFirstUse<T>(specifier: string): () => T {
  let loaded: T | undefined;
  return () => {
    loaded ??= require(specifier) as T;
    return loaded;
  };
}

/** The same for a library with a native binary, which some platforms lack: null there. */
export function nativeOnFirstUse<T>(specifier: string): () => T | null {
  let loaded: T | null | undefined;
  return () => {
    if (loaded === undefined) {
      try {
        loaded = require(specifier) as T;
      } catch {
        // No binary for this platform. The caller has a slower way written in JavaScript.
        loaded = null;
      }
    }
    return loaded;
  };
}
