/** Pictures behind the token: fetched like everything else and shown from memory. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { open, type Address } from "./client";

export interface Picture {
  url: string | undefined;
  error: unknown;
}

export function usePicture(address: Address | null): Picture {
  const query = useQuery({
    queryKey: ["picture", address],
    enabled: address !== null,
    staleTime: Infinity,
    gcTime: 60_000,
    queryFn: ({ signal }) => open(address!, signal).then((response) => response.blob()),
  });
  const { data } = query;
  const url = useMemo(() => data && URL.createObjectURL(data), [data]);
  useEffect(() => (url ? () => URL.revokeObjectURL(url) : undefined), [url]);
  return { url, error: query.error };
}
