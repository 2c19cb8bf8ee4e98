import { useMediaQuery } from "@mantine/hooks";

export const useIsPhone = () => useMediaQuery("(max-width: 47.99em)", undefined, { getInitialValueInEffect: false });

/** Where three columns have room. */
export const useIsWide = () => useMediaQuery("(min-width: 75em)", undefined, { getInitialValueInEffect: false });
