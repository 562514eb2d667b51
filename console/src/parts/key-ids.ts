/** Returns the id of the API key in a principal such as `key:key_01hv…`, or in an id; nothing for anybody else. */
export const keyIdIn = (text: string): string | undefined => /(?:^|:)(key_[0-9a-z]{26})$/.exec(text)?.[1];
