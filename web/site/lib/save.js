// Files that a page makes, for the browser to save.
import { now, toField } from './time.js';

/** @param {BlobPart[]} parts @param {string} type @param {string} name the beginning of its name, before the day @param {string} ending */
export function save(parts, type, name, ending) {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob(parts, { type }));
    link.download = `${name}-${toField(now()).slice(0, 10)}.${ending}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
